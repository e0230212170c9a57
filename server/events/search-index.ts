import type { EventData, MessageId } from '@parley/contract';
import { words } from '../domain/words.ts';
import type { Engine, Tx } from '../store/engine.ts';
import { type EventRow, eventsAfter, logTip, moveCursor, readCursor } from '../store/events.ts';
import { idsBetween } from '../store/log-cursor.ts';
import { addToIndex, dropFromIndex, type IndexedMessage } from '../store/search.ts';

/** Events in one step, and characters of their bodies: what takes a few milliseconds. */
const mostEvents = 250;
const mostText = 100_000;

/**
 * Brings the search index up to the event log, one batch at a time; answers whether there is more. Index and cursor move
 * in one transaction, so a crash repeats nothing and skips nothing; a power cut may undo both, which are then done again.
 * Where several processes follow, one does the work.
 */
export async function indexNextEvents(engine: Engine, lag: (events: number) => void): Promise<boolean> {
  const tip = await logTip(engine);
  const position = await readCursor(engine, 'search');
  lag(await idsBetween(engine, position, tip));
  if (tip === position) return false;
  return engine.writeRelaxed(async (tx) => {
    if (!(await tx.tryLock('search-index'))) return false;
    const events = await eventsAfter(tx, await readCursor(tx, 'search'), mostEvents);
    const step = events.slice(0, Math.max(1, countWithin(events, mostText)));
    const last = step.at(-1);
    if (!last) return false;
    await indexChanged(tx, step);
    await moveCursor(tx, 'search', last.event_id);
    return step.length < events.length || events.length === mostEvents;
  });
}

/** How many of the first events have bodies of so many characters together. */
function countWithin(events: readonly EventRow[], characters: number): number {
  let left = characters;
  const over = events.findIndex(({ body }) => {
    left -= body.length;
    return left < 0;
  });
  return over < 0 ? events.length : over;
}

type TextEvent = { [E in 'new_message' | 'message_edited' | 'message_deleted']: { event: E; data: EventData<E> } }[
  | 'new_message'
  | 'message_edited'
  | 'message_deleted'];

/** The last event of a message tells its text: nothing else is read. */
async function indexChanged(tx: Tx, events: readonly EventRow[]): Promise<void> {
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

const changesText = ({ event }: EventRow): boolean =>
  event === 'new_message' || event === 'message_edited' || event === 'message_deleted';
