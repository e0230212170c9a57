/** @jsxImportSource preact */
import type { LoggedEvent } from '@parley-chat/sdk';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { isWindowOpen } from '../dialogs.ts';
import { CodeBlock } from '../docs/code-block.tsx';
import { RequestExample } from '../docs/request-example.tsx';
import { IconButton } from '../icon.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { CopyButton } from './copy-button.tsx';
import { ChatOf } from './deliveries-table.tsx';
import { chatOf } from './event-filters.ts';
import { SendEventDialog } from './send-event-dialog.tsx';
import { exactTime } from './times.ts';

const words = consoleText.inspector;

interface EventPaneProps {
  readonly eventId: number;
  /** Undefined if the event is not among the rows: then it is loaded. */
  readonly loaded: LoggedEvent | undefined;
  readonly onClose: () => void;
}

/** One event in full, and the code that fetches it. */
export function EventPane({ eventId, loaded, onClose }: EventPaneProps) {
  const { client } = useSession();
  // A row may leave the list while it is shown here.
  const [event, setEvent] = useState(loaded);
  const [isMissing, setMissing] = useState(false);
  const load = useCallback(async () => {
    if (loaded) return;
    const { events } = await client.events.list({ after: eventId - 1, limit: 1 });
    const found = events.find(({ event_id }) => event_id === eventId);
    setEvent(found);
    setMissing(!found);
  }, [client, eventId]);
  const { problem, again } = useLoading(words.failed, load, { cursor_expired: words.missing });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && !isWindowOpen()) onClose();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [onClose]);
  return (
    <aside class="delivery-pane" aria-label={words.eventTitle(eventId)}>
      <header class="line">
        <h2 ref={heading} tabIndex={-1}>
          {words.eventTitle(eventId)}
        </h2>
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </header>
      <Problem words={problem} onRetry={again} />
      {isMissing && <p class="muted">{words.missing}</p>}
      {event && <Body event={event} />}
    </aside>
  );
}

function Body({ event }: { event: LoggedEvent }) {
  const json = JSON.stringify(event, null, 2);
  const fetching = {
    resource: 'events',
    action: 'list',
    method: 'GET',
    returns: 'json',
    fileField: undefined,
    input: { after: event.event_id - 1, limit: 1 },
  } as const;
  const [isSending, setSending] = useState(false);
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{words.facts.event}</dt>
          <dd>{event.event}</dd>
        </div>
        <div>
          <dt>{words.facts.chat}</dt>
          <dd>
            <ChatOf chatId={chatOf(event)} />
          </dd>
        </div>
        <div>
          <dt>{words.facts.time}</dt>
          <dd>
            <time dateTime={event.timestamp}>{exactTime(event.timestamp)}</time>
          </dd>
        </div>
      </dl>
      <div class="buttons">
        <button type="button" class="button" onClick={() => setSending(true)}>
          {words.send}
        </button>
      </div>
      {isSending && <SendEventDialog eventId={event.event_id} onClose={() => setSending(false)} />}
      <section>
        <div class="line">
          <h3>{words.json}</h3>
          <CopyButton text={json} label={words.copyJson} />
        </div>
        <CodeBlock code={json} language="json" />
      </section>
      <section>
        <h3>{words.fetch}</h3>
        <RequestExample call={fetching} />
      </section>
    </>
  );
}
