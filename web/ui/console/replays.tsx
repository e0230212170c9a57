/** @jsxImportSource preact */

import type { ClientInput } from '@parley-chat/sdk';
import type { Replay } from '@parley-chat/sdk/operations.ts';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { text } from '../../text/text.ts';
import { useSession } from '../context.ts';
import { Dialog } from '../dialog.tsx';
import { tell, useAct } from '../notice.tsx';
import { problemOf } from '../problem.tsx';
import { isoOf, localOf } from './filters.ts';
import { FormButtons } from './form-buttons.tsx';
import { Pill } from './health.tsx';
import { useOrder } from './live.ts';
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

/** Counts past events, and sends them once more. */
export function ReplayDialog({ webhookId, onClose }: ReplayDialogProps) {
  const { client } = useSession();
  const [since, setSince] = useState(() => localOf(new Date(Date.now() - hourMs).toISOString()));
  const [choice, setChoice] = useState<Choice>('every');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const from = isoOf(since);
  const only = choices[choice];
  const asked = { webhook_id: webhookId, since: from, ...(only && { only }) };
  const preview = usePreview(asked);
  const start = async () => {
    if (from === undefined) return setProblem(words.noTime);
    setBusy(true);
    try {
      await client.webhooks.replay(asked);
      tell(words.started);
      onClose();
    } catch (error) {
      setProblem(problemOf(error, sentences));
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
        <p role="status">{preview.words}</p>
        <FormButtons problem={problem} act={words.act} isBusy={isBusy || preview.isEmpty} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

const sentences = { cursor_expired: words.expired };

/** Typing a time changes it several times. */
const typingMs = 300;

/** Counts what a replay would send, and says so. */
function usePreview(asked: ClientInput<'webhooks.preview_replay'>): { words: string; isEmpty: boolean } {
  const { client } = useSession();
  const [preview, setPreview] = useState({ words: '', isEmpty: false });
  const key = JSON.stringify(asked);
  useEffect(() => {
    let isCurrent = true;
    const show = (words: string, isEmpty = false) => isCurrent && setPreview({ words, isEmpty });
    if (asked.since === undefined) show('');
    else show(words.counting);
    const count = () =>
      client.webhooks.previewReplay(asked).then(
        ({ event_count: count, is_exact: isExact }) =>
          count === 0 ? show(words.nothing, true) : show(words.preview({ count, isExact })),
        (error: unknown) =>
          show(text.problems.because({ failed: words.uncounted, cause: problemOf(error, sentences) })),
      );
    const timer = asked.since === undefined ? undefined : setTimeout(() => void count(), typingMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [client, key]);
  return preview;
}

/** Those that matter: replays are few. */
const maxShown = 3;

interface ReplaysProps {
  readonly webhookId: number;
  /** The replays are loaded again when it changes. */
  readonly tick: number;
  /** Called when a replay was changed here. */
  readonly onChange: () => void;
}

/** The newest replays of a webhook, and how far they are. */
export function Replays({ webhookId, tick, onChange }: ReplaysProps) {
  const { client, report } = useSession();
  const [replays, setReplays] = useState<readonly Replay[]>([]);
  const act = useAct();
  const order = useOrder();
  const load = useCallback(async () => {
    const isNewest = order();
    const page = await client.webhooks.replays({ webhook_id: webhookId, limit: maxShown });
    if (isNewest()) setReplays(page.replays);
  }, [client, webhookId]);
  const cancel = ({ replay_id }: Replay) =>
    act(words.cancelFailed, async () => {
      await client.webhooks.cancelReplay({ replay_id });
      tell(words.cancelled);
      onChange();
    });
  useEffect(() => void load().catch(report), [load, tick]);
  if (replays.length === 0) return null;
  return (
    <section class="replays" aria-label={words.list}>
      <h2>{words.list}</h2>
      <ul>
        {replays.map((replay) => (
          <li key={replay.replay_id}>
            <Progress replay={replay} onCancel={() => cancel(replay)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Progress({ replay, onCancel }: { readonly replay: Replay; readonly onCancel: () => void }) {
  const { status, from_event_id, to_event_id, reached_event_id, created_at } = replay;
  const { delivered_count: delivered, failed_count: failed, skipped_count: skipped, open_count: open } = replay;
  const all = Math.max(1, to_event_id - from_event_id + 1);
  const done = Math.min(all, Math.max(0, reached_event_id - from_event_id + 1 - open));
  return (
    <>
      <div class="line">
        <span title={exactTime(created_at)}>{words.of(secondsTime(created_at))}</span>
        <Pill kind={status}>{words.status[status]}</Pill>
      </div>
      {status === 'running' && <progress aria-label={words.bar} max={all} value={done} />}
      <div class="line">
        <p class="muted">{words.progress({ delivered, failed, skipped, open })}</p>
        {status === 'running' && (
          <button type="button" class="button quiet" aria-label={words.cancel} onClick={onCancel}>
            {text.common.cancel}
          </button>
        )}
      </div>
    </>
  );
}
