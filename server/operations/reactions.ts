import { ParleyError } from '@parley/contract';
import { findUsers } from '../store/access/users.ts';
import { extraBits } from '../store/chat/messages.ts';
import { deleteReaction, hasReaction, insertReaction, reactionsTo, usersWhoReacted } from '../store/chat/reactions.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessMessage, lockMessage } from './access.ts';
import { type Call, change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

/** The number of different reactions to a message. Without a limit, a page of messages could become arbitrarily large. */
const maxKinds = 50;

export const reactionHandlers = (services: Services) =>
  ({
    'messages.add_reaction': change(services, async (tx, at, call) => {
      const { message, reaction } = await reactionOf(tx, call);
      if (message.is_deleted) throw new ParleyError('conflict', 'This message has been deleted.');
      const { message_id, user_id, emoji } = reaction;
      if (!(await hasReaction(tx, reaction))) {
        const there = (await reactionsTo(tx, [message], user_id)).get(message_id) ?? [];
        if (there.length >= maxKinds && !there.some((r) => r.emoji === emoji)) {
          throw new ParleyError('conflict', `A message takes at most ${maxKinds} different reactions.`);
        }
        services.dailyMessages.require(call.caller.ownerId);
        await insertReaction(tx, reaction, await appendOne(tx, { event: 'reaction_added', data: reaction }, at));
        services.dailyMessages.add(call.caller.ownerId);
      }
      const reacted = { ...message, extras: message.extras | extraBits.reactions };
      return { message: await present.messageFor(tx, reacted, user_id, services.files.url) };
    }),

    'messages.remove_reaction': change(services, async (tx, at, call) => {
      const { message, reaction } = await reactionOf(tx, call);
      if (await hasReaction(tx, reaction)) {
        await deleteReaction(tx, reaction);
        await appendOne(tx, { event: 'reaction_removed', data: reaction }, at);
        services.dailyMessages.add(call.caller.ownerId);
      }
      return { message: await present.messageFor(tx, message, reaction.user_id, services.files.url) };
    }),

    'messages.reactions': async ({ caller, input: { message_id, emoji, after_id, limit } }) => {
      const { message } = await accessMessage(services.engine, caller.userId, message_id);
      const found = await usersWhoReacted(services.engine, message, emoji, after_id, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      const users = await findUsers(services.engine, rows);
      return { users: users.map((row) => present.user(row, services.avatarUrl)), has_more };
    },
  }) satisfies Partial<Handlers>;

async function reactionOf(tx: Tx, { caller, input }: Call<'messages.add_reaction'> | Call<'messages.remove_reaction'>) {
  const { message } = await lockMessage(tx, caller.userId, input.message_id);
  const { chat_id, message_id } = message;
  return { message, reaction: { message_id, chat_id, user_id: caller.userId, emoji: input.emoji } };
}
