import type { EventData, Message, MessageId } from '@parley/contract';
import { words } from '../domain/words.ts';
import type { Engine, Tx } from '../store/engine.ts';
import { type EventRow, eventsAfter, logTip, moveCursor, readCursor } from '../store/events.ts';
import { findMessages } from '../store/messages.ts';
import { indexMessages } from '../store/search.ts';

/** Events in one step: a few milliseconds of work. */
const batch = 500;

const changesText = new Set(['new_message', 'message_edited', 'message_deleted']);

/**
 * Brings the search index up to the event log, one batch at a time; answers whether there is more. Index and cursor move
 * in one transaction, so a crash repeats nothing and skips nothing. Where several processes follow, one does the work.
 */
export async function indexNextEvents(engine: Engine, lag: (events: number) => void): Promise<boolean> {
  const tip = await logTip(engine);
  const position = await readCursor(engine, 'search');
  lag(tip - position);
  if (tip === position) return false;
  return engine.write(async (tx) => {
    if (!(await tx.tryLock('search-index'))) return false;
    const events = await eventsAfter(tx, await readCursor(tx, 'search'), batch);
    const last = events.at(-1);
    if (!last) return false;
    await indexChanged(tx, events);
    await moveCursor(tx, 'search', last.event_id);
    return events.length === batch;
  });
}

/** What is indexed is the message as it is now, so a step may lag behind several edits and still be right. */
async function indexChanged(tx: Tx, events: readonly EventRow[]): Promise<void> {
  const ids = new Set(events.filter((e) => changesText.has(e.event)).map(messageOf));
  if (ids.size === 0) return;
  const messages = await findMessages(tx, [...ids]);
  await indexMessages(
    tx,
    messages.map(({ message_id, chat_id, json }) => ({ message_id, chat_id, words: words(contentOf(json)) })),
  );
}

const contentOf = (json: string) => (JSON.parse(json) as Message).content;

function messageOf({ body }: EventRow): MessageId {
  return (JSON.parse(body) as { data: EventData<'new_message'> }).data.message_id;
}
