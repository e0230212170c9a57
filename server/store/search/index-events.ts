import type { EventData, MessageId } from '@parley/contract';
import { words } from '../../domain/words.ts';
import type { LogEntry, Procedure, Tx } from '../engine/engine.ts';
import { eventsAfter, moveCursor, readCursor } from '../log/events.ts';
import { addToIndex, dropFromIndex, type IndexedMessage, mergeIndex } from './indexing.ts';

/** Events in one step, and characters of their bodies. Sends wait for a step, so it takes about a millisecond. */
const maxEvents = 100;
const maxChars = 32_000;

/**
 * Indexes the next events of the log and returns the id of the last one, or the cursor if there are none. Returns nothing if
 * another process is at it. The index and its cursor move in one transaction, so a crash neither repeats nor skips anything.
 * A power cut may undo both, and they are then done again.
 */
export const indexEvents: Procedure<null, number> = {
  name: 'indexEvents',
  isRelaxed: true,
  run: async (tx) => {
    if (!(await tx.tryLock('search-index'))) return [];
    const position = await readCursor(tx, 'search');
    const events = await eventsAfter(tx, position, maxEvents);
    const step = events.slice(0, Math.max(1, countWithin(events, maxChars)));
    const last = step.at(-1);
    if (!last) return [position];
    await indexChanged(tx, step);
    if (events.length < maxEvents) await mergeIndex(tx);
    await moveCursor(tx, 'search', last.event_id);
    return [last.event_id];
  },
  lines: { write: String, read: Number },
};

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
