/** @jsxImportSource preact */
import type { LoggedEvent } from '@parley-chat/sdk';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { Batch } from '../../lib/batch.ts';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { EmptyState } from '../empty-state.tsx';
import { More } from '../more.tsx';
import { Problem, useLoading } from '../problem.tsx';
import { navigate } from '../route.ts';
import { ChatOf } from './deliveries-table.tsx';
import { ChatChoice, Choice } from './delivery-filters.tsx';
import { eventNames } from './event-choice.ts';
import { chatOf, type EventFilters, eventsPath, hasWords, readEventFilters } from './event-filters.ts';
import { EventPane } from './event-pane.tsx';
import { EventTail } from './event-tail.ts';
import { PageHead } from './page.tsx';
import { exactTime, secondsTime } from './times.ts';

const words = consoleText.inspector;

/** Also while the stream says nothing: it may be another browser that has lost its connection. */
const pollMs = 5_000;
/** Events that come together are read together. */
const gatherMs = 60;

/** The live log of the reader's chats, and one event in full beside it. */
export function EventsPage({ query }: { query: string }) {
  const { client } = useSession();
  const filters = readEventFilters(query);
  const { event, chatId, eventId } = filters;
  const tail = useMemo(() => new EventTail(client, { event, chatId }), [client, event, chatId]);
  const { problem, again, run } = useLoading(
    words.failed,
    useCallback(() => tail.start(), [tail]),
  );
  useNews(useCallback(() => tail.isLoaded.peek() && run(() => tail.poll()), [tail, run]));
  // Back undoes a choice, and not every letter of the words.
  const change = (part: Partial<EventFilters>) =>
    navigate(eventsPath({ ...filters, ...part }), { replace: part.words !== undefined });
  const close = () => {
    navigate(eventsPath({ ...filters, eventId: undefined }));
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-event="${eventId}"]`)?.focus());
  };
  const all = tail.rows.value;
  const rows = all.filter((row) => hasWords(row, filters.words));
  const isPaused = tail.isPaused.value;
  return (
    <div class="page wide">
      <PageHead words={words}>
        <button type="button" class="button quiet" onClick={() => (isPaused ? run(() => tail.resume()) : tail.pause())}>
          {isPaused ? words.resume : words.pause}
        </button>
      </PageHead>
      <section class={`deliveries${eventId === undefined ? '' : ' has-pane'}`} aria-label={words.title}>
        <div class="deliveries-list">
          <Filters filters={filters} onChange={change} />
          <p role="status" class="muted">
            {isPaused && words.paused}
          </p>
          <Problem words={problem} onRetry={again} />
          {rows.length > 0 && (
            <ol class="event-rows" aria-label={words.list}>
              {rows.map((row) => (
                <Row
                  key={row.event_id}
                  row={row}
                  isOpen={row.event_id === eventId}
                  href={eventsPath({ ...filters, eventId: row.event_id })}
                />
              ))}
            </ol>
          )}
          {tail.isLoaded.value && rows.length === 0 && (
            <EmptyState icon="clock" title={words.empty}>
              {all.length > 0 ? words.emptyWords : words.emptyHint}
            </EmptyState>
          )}
          {tail.isLoaded.value && tail.hasOlder.value && (
            <More failed={words.olderFailed} onMore={() => tail.older()} isEager={false} />
          )}
        </div>
        {eventId !== undefined && (
          <EventPane
            key={eventId}
            eventId={eventId}
            loaded={all.find((row) => row.event_id === eventId)}
            onClose={close}
          />
        )}
      </section>
    </div>
  );
}

/** Calls a function when there may be new events: the tab with the stream reports each one to the others. */
function useNews(onNews: () => unknown): void {
  const { store } = useSession();
  useEffect(() => {
    const news = new Batch<'news'>(gatherMs, onNews);
    const channel = new BroadcastChannel(`parley-stream-${store.me.user_id}`);
    channel.onmessage = () => news.add('news');
    const timer = setInterval(() => document.visibilityState === 'visible' && news.add('news'), pollMs);
    return () => {
      channel.close();
      clearInterval(timer);
    };
  }, [onNews]);
}

interface FiltersProps {
  readonly filters: EventFilters;
  readonly onChange: (part: Partial<EventFilters>) => void;
}

function Filters({ filters: { event, chatId, words: typed }, onChange }: FiltersProps) {
  const [isOpen, setOpen] = useState(event !== undefined || chatId !== undefined || typed !== '');
  const names: readonly string[] = eventNames;
  return (
    <>
      <button type="button" class="button quiet filters-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {words.filters.label}
      </button>
      <fieldset class={`filters${isOpen ? ' is-open' : ''}`}>
        <legend class="unseen">{words.filters.label}</legend>
        <Choice
          label={words.filters.event}
          value={event}
          values={[...new Set([...names, ...(event ? [event] : [])])].map((name) => [name, name])}
          onChange={(value) => onChange({ event: value })}
        />
        <ChatChoice chatId={chatId} onChange={(value) => onChange({ chatId: value })} />
        <label class="field">
          <span>{words.filters.words}</span>
          <input
            type="search"
            value={typed}
            onInput={({ currentTarget }) => onChange({ words: currentTarget.value })}
          />
        </label>
      </fieldset>
    </>
  );
}

interface RowProps {
  readonly row: LoggedEvent;
  readonly isOpen: boolean;
  readonly href: string;
}

function Row({ row, isOpen, href }: RowProps) {
  const { event_id, event, timestamp, data } = row;
  return (
    <li>
      <a href={href} data-event={event_id} aria-current={isOpen ? 'true' : undefined}>
        <strong>{event}</strong>
        <span class="chat">
          <ChatOf chatId={chatOf(row)} />
        </span>
        <time class="muted" dateTime={timestamp} title={exactTime(timestamp)}>
          {secondsTime(timestamp)}
        </time>
        <code class="muted">{JSON.stringify(data)}</code>
      </a>
    </li>
  );
}
