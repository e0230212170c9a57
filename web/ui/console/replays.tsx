/** @jsxImportSource preact */

import type { Replay } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { tell } from '../notice.tsx';
import { problemOf } from '../problem.tsx';
import { isoOf, localOf } from './filters.ts';
import { FormButtons } from './form-buttons.tsx';
import { Pill } from './health.tsx';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.replays;

/** The choices of the form, and what the server is asked for. */
const choices = {
  every: undefined,
  undelivered: ['failed', 'skipped'],
  failed: ['failed'],
  skipped: ['skipped'],
} as const;
type Choice = keyof typeof choices;

const hourMs = 3_600_000;

interface ReplayDialogProps {
  readonly webhookId: number;
  readonly onClose: () => void;
}

/** Sends past events once more. */
export function ReplayDialog({ webhookId, onClose }: ReplayDialogProps) {
  const { client } = useSession();
  const [since, setSince] = useState(() => localOf(new Date(Date.now() - hourMs).toISOString()));
  const [choice, setChoice] = useState<Choice>('every');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    const from = isoOf(since);
    if (from === undefined) return setProblem(words.noTime);
    setBusy(true);
    try {
      const only = choices[choice];
      await client.webhooks.replay({ webhook_id: webhookId, since: from, ...(only && { only }) });
      tell(words.started);
      onClose();
    } catch (error) {
      setProblem(problemOf(error, { cursor_expired: words.expired }));
      setBusy(false);
    }
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <p>{words.about}</p>
        <label class="field">
          <span>{words.since}</span>
          <input
            type="datetime-local"
            required
            autofocus
            value={since}
            onInput={(event) => setSince(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>{words.which}</span>
          <select value={choice} onChange={(event) => setChoice(event.currentTarget.value as Choice)}>
            {(Object.keys(choices) as Choice[]).map((one) => (
              <option key={one} value={one}>
                {words[one]}
              </option>
            ))}
          </select>
        </label>
        <FormButtons problem={problem} act={words.act} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** Those that matter: replays are few. */
const maxShown = 3;

/** The newest replays of a webhook, and how far they are. */
export function Replays({ webhookId, tick }: { webhookId: number; tick: number }) {
  const { client, report } = useSession();
  const [replays, setReplays] = useState<readonly Replay[]>([]);
  const load = useCallback(
    () => client.webhooks.replays({ webhook_id: webhookId, limit: maxShown }).then((page) => setReplays(page.replays)),
    [client, webhookId],
  );
  useEffect(() => void load().catch(report), [load, tick]);
  if (replays.length === 0) return null;
  return (
    <section class="replays" aria-label={words.list}>
      <h2>{words.list}</h2>
      <ul>
        {replays.map((replay) => (
          <li key={replay.replay_id}>
            <Progress replay={replay} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Progress({ replay }: { replay: Replay }) {
  const { status, from_event_id, to_event_id, reached_event_id, created_at } = replay;
  const { delivered_count: delivered, failed_count: failed, open_count: open } = replay;
  const all = Math.max(1, to_event_id - from_event_id + 1);
  const done = status === 'done' ? all : Math.min(all, Math.max(0, reached_event_id - from_event_id + 1));
  return (
    <>
      <div class="line">
        <span title={exactTime(created_at)}>{words.of(secondsTime(created_at))}</span>
        <Pill kind={status}>{words.status[status]}</Pill>
      </div>
      {status === 'running' && <progress aria-label={words.bar} max={all} value={done} />}
      <p class="muted">{words.progress({ delivered, failed, open })}</p>
    </>
  );
}
