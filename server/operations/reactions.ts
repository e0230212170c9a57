import { ParleyError } from '@parley/contract';
import { deleteReaction, hasReaction, insertReaction, reactionsTo } from '../store/chat/reactions.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { lockMessage } from './access.ts';
import { type Call, change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

/** Different reactions to one message: beyond this a page of messages could be made as large as anyone likes. */
const mostKinds = 50;

type Reacting = Call<'messages.add_reaction'> | Call<'messages.remove_reaction'>;

async function reactionOf(tx: Tx, { caller, input }: Reacting) {
  const { message } = await lockMessage(tx, caller.userId, input.message_id);
  const { chat_id, message_id } = message;
  return { message, reaction: { message_id, chat_id, user_id: caller.userId, emoji: input.emoji } };
}

export function addReaction(services: Services): Handler<'messages.add_reaction'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { message, reaction } = await reactionOf(tx, call);
      if (message.is_deleted) throw new ParleyError('conflict', 'This message has been deleted.');
      if (!(await hasReaction(tx, reaction))) {
        const { message_id, user_id, emoji } = reaction;
        const there = (await reactionsTo(tx, [message], user_id)).get(message_id) ?? [];
        if (there.length >= mostKinds && !there.some((r) => r.emoji === emoji)) {
          throw new ParleyError('conflict', `A message takes at most ${mostKinds} different reactions.`);
        }
        await insertReaction(tx, reaction, await appendOne(tx, { event: 'reaction_added', data: reaction }, at));
      }
      return {
        message: await present.messageFor(
          tx,
          { ...message, has_reactions: true },
          call.caller.userId,
          services.files.url,
        ),
      };
    });
}

export function removeReaction(services: Services): Handler<'messages.remove_reaction'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { message, reaction } = await reactionOf(tx, call);
      if (await hasReaction(tx, reaction)) {
        await deleteReaction(tx, reaction);
        await appendOne(tx, { event: 'reaction_removed', data: reaction }, at);
      }
      return { message: await present.messageFor(tx, message, call.caller.userId, services.files.url) };
    });
}
