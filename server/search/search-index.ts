import type { EventData, MessageId } from '@parley/contract';
import { words } from '../domain/words.ts';
import type { EventLog } from '../log/event-log.ts';
import type { Engine, LogEntry, Tx } from '../store/engine/engine.ts';
import { moveCursor, readCursor } from '../store/log/events.ts';
import { idsBetween } from '../store/log/log-cursor.ts';
import { addToIndex, dropFromIndex, type IndexedMessage } from '../store/search/indexing.ts';

/** Events in one step, and characters of their bodies: what takes a few milliseconds. */
const maxEvents = 250;
const maxChars = 100_000;

/**
 * Indexes the next events of the log. Returns whether there are more. The index and its cursor move in one transaction,
 * so a crash neither repeats nor skips anything. A power cut may undo both, and they are then done again. If several
 * processes follow the log, one of them does the work.
 */
export async function indexNextEvents(
  engine: Engine,
  log: EventLog,
  reportLag: (events: number) => void,
): Promise<boolean> {
  const position = await readCursor(engine, 'search');
  const { events } = await log.read(position, maxEvents);
  reportLag(events.length === 0 ? 0 : await idsBetween(engine, position, log.tip));
  const step = events.slice(0, Math.max(1, countWithin(events, maxChars)));
  const last = step.at(-1);
  if (!last) return false;
  return engine.writeRelaxed(async (tx) => {
    if (!(await tx.tryLock('search-index'))) return false;
    // Another process may have indexed these events meanwhile.
    if ((await readCursor(tx, 'search')) !== position) return true;
    await indexChanged(tx, step);
    await moveCursor(tx, 'search', last.event_id);
    return last.event_id < log.tip;
  });
}

/** Returns how many of the first events have bodies of at most so many characters together. */
function countWithin(events: readonly LogEntry[], characters: number): number {
  let left = characters;
  const over = events.findIndex(({ size }) => {
    left -= size;
    return left < 0;
  });
  return over < 0 ? events.length : over;
}

const textEvents = ['new_message', 'message_edited', 'message_deleted'] as const;

type TextEventName = (typeof textEvents)[number];
type TextEvent = { [E in TextEventName]: { event: E; data: EventData<E> } }[TextEventName];

/** The last event of a message has its text, so nothing else is read. */
async function indexChanged(tx: Tx, events: readonly LogEntry[]): Promise<void> {
  const created = new Set<MessageId>();
  const texts = new Map<MessageId, IndexedMessage>();
  for (const { event, data } of events.filter(changesText).map(({ body }) => JSON.parse(body) as TextEvent)) {
    const { message_id, chat_id } = data;
    if (event === 'new_message') created.add(message_id);
    texts.set(message_id, { message_id, chat_id, words: event === 'message_deleted' ? [] : words(data.content) });
  }
  await dropFromIndex(
    tx,
    [...texts.keys()].filter((id) => !created.has(id)),
  );
  await addToIndex(
    tx,
    [...texts.values()].filter((message) => message.words.length > 0),
  );
}

const changesText = ({ event }: LogEntry): boolean => textEvents.some((name) => name === event);
