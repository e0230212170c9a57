import type { ChatId, Input, Output, UserId } from '@parley/contract';
import { type ActivityPlace, chatsByActivity, currentMoment, type Moment } from '../store/chat/activity.ts';
import { listChats, viewChats } from '../store/chat/chats.ts';
import type { Db } from '../store/engine/engine.ts';
import { logTip } from '../store/log/events.ts';
import { showChats } from './chats.ts';
import type { Handlers, Services } from './operation.ts';
import * as present from './present.ts';

export const chatListHandlers = ({ engine }: Services) =>
  ({
    'chats.list': async ({ caller: { userId }, input }) => {
      if (input.order === 'activity') return listByActivity(engine, userId, input);
      // The newest event is read first, so that the list has all events up to it.
      const event_id = await logTip(engine);
      const { scope, query, limit, after_id: afterId } = input;
      const found = await listChats(engine, userId, { scope, query, afterId, limit: limit + 1 });
      const { rows, has_more } = present.page(found, limit);
      return { chats: await showChats(engine, userId, rows), has_more, event_id };
    },
  }) satisfies Partial<Handlers>;

/** The first page fixes the moment. All pages show the order and the messages of that moment. */
async function listByActivity(db: Db, userId: UserId, input: Input<'chats.list'>): Promise<Output<'chats.list'>> {
  const { query, limit, archived, pinned } = input;
  const after = input.after === undefined ? undefined : parseCursor(input.after);
  const moment = after?.moment ?? (await currentMoment(db));
  const asked = { moment, isArchived: archived, onlyPinned: pinned, query, after: after?.place, limit: limit + 1 };
  const { rows, has_more } = present.page(await chatsByActivity(db, userId, asked), limit);
  const views = await viewChats(
    db,
    userId,
    rows.map(({ chat_id }) => chat_id),
    moment.message_id,
  );
  const chats = await showChats(
    db,
    userId,
    rows.flatMap(({ chat_id }) => views.get(chat_id) ?? []),
  );
  const last = rows.at(-1);
  return { chats, has_more, event_id: moment.event_id, next: has_more && last ? cursorAfter(moment, last) : null };
}

const cursorAfter = ({ event_id, message_id }: Moment, { activity, chat_id }: ActivityPlace): string =>
  [event_id, message_id, activity, chat_id].join('.');

/** The contract has checked the form. Any numbers are safe: a list has only chats of the user. */
function parseCursor(cursor: string): { moment: Moment; place: ActivityPlace } {
  const [event_id = 0, message_id = 0, activity = 0, chat_id = 0] = cursor.split('.').map(Number);
  return { moment: { event_id, message_id }, place: { activity, chat_id: chat_id as ChatId } };
}
