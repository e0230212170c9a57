import { ParleyError } from '@parley/contract';
import { may, refusals } from '../domain/policy.ts';
import { pinsOf, removePin, setPins } from '../store/chat/pins.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessChatTo, lockMessage } from './access.ts';
import { chatFor } from './chats.ts';
import { messagesField } from './message-pages.ts';
import { type Call, change, type Handlers, type Services } from './operation.ts';
import { PreparedJson } from './results.ts';

/** Pinned messages of a chat. Each is a part of every record of the chat. */
const maxPins = 50;

export const pinHandlers = (services: Services) =>
  ({
    'messages.pin': change(services, async (tx, at, call) => {
      const { message, data } = await lockToPin(tx, call);
      const { chat_id, message_id } = data;
      if (message.is_deleted) throw new ParleyError('conflict', 'This message has been deleted.');
      const pins = await pinsOf(tx, chat_id);
      if (!pins.includes(message_id)) {
        if (pins.length >= maxPins) {
          throw new ParleyError('conflict', `A chat has at most ${maxPins} pinned messages. Unpin one first.`);
        }
        services.dailyMessages.require(call.caller.ownerId);
        await setPins(tx, chat_id, [message_id, ...pins]);
        await appendOne(tx, { event: 'message_pinned', data }, at);
        services.dailyMessages.add(call.caller.ownerId);
      }
      return { chat: await chatFor(tx, chat_id, call.caller.userId) };
    }),

    'messages.unpin': change(services, async (tx, at, call) => {
      const { data } = await lockToPin(tx, call);
      if (await removePin(tx, data.chat_id, data.message_id)) {
        await appendOne(tx, { event: 'message_unpinned', data }, at);
        services.dailyMessages.add(call.caller.ownerId);
      }
      return { chat: await chatFor(tx, data.chat_id, call.caller.userId) };
    }),

    'messages.pins': async ({ caller: { userId }, input: { chat_id } }) => {
      const { engine } = services;
      await accessChatTo(engine, 'read', userId, chat_id);
      return new PreparedJson(await messagesField(services, userId, await pinsOf(engine, chat_id)));
    },
  }) satisfies Partial<Handlers>;

/** Returns a message that the caller may pin and unpin, and locks its chat. */
async function lockToPin(tx: Tx, { caller, input }: Call<'messages.pin'> | Call<'messages.unpin'>) {
  const { message, chat, role } = await lockMessage(tx, caller.userId, input.message_id);
  if (!may('pin', chat.type, role)) throw new ParleyError('forbidden', refusals.pin);
  const { message_id, chat_id } = message;
  return { message, data: { message_id, chat_id, user_id: caller.userId } };
}
