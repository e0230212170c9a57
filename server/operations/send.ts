import { type ChatId, invalidField } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { storedResponse } from '../domain/idempotency.ts';
import { keptFile } from '../domain/message.ts';
import { tookTooLong } from '../files/uploads.ts';
import { type NewMessage, sendMessages } from '../store/chat/send.ts';
import { accessChatTo } from './access.ts';
import { MessageSender } from './message-sender.ts';
import { type Call, fingerprintOf, type Gate, type Handler, keyOf, type Services } from './operation.ts';
import { PreparedJson } from './results.ts';

type Send = Call<'messages.send_message'>;

/** Messages in one transaction. With 64 the cost of an fsync is shared so far that a larger batch gains little. */
const maxBatch = 256;

/** `send_message`: messages that arrive together are committed together. */
export function sendMessage(services: Services): Handler<'messages.send_message'> {
  const { engine, dailyMessages } = services;
  const sender = new MessageSender(services, sendMessages, maxBatch);
  return async (call) => {
    // A caller who may not read files may not show them to others either.
    const { file_id, file_ids } = call.input;
    if (file_id !== undefined || file_ids !== undefined) requireScopes(call.caller, ['files']);
    const message = toMessage(call);
    for (;;) {
      const outcome = await sender.send(call.caller.ownerId, message);
      if ('json' in outcome) {
        dailyMessages.add(call.caller.ownerId);
        return new PreparedJson(`"message":${outcome.json}`);
      }
      if ('stored' in outcome) {
        const response = storedResponse(outcome.stored, fingerprintOf(call));
        call.replayed?.();
        return new PreparedJson(response.slice(1, -1));
      }
      if (outcome.refused === 'file') throw noFile(file_ids !== undefined);
      if (outcome.refused === 'reply') throw invalidField('reply_to', 'is not a message of this chat');
      if (outcome.refused === 'expired') throw tookTooLong();
      // Throws unless the caller has gained access since.
      if (outcome.refused === 'access') await accessChatTo(engine, 'send', message.user_id, message.chat_id);
    }
  };
}

const noFile = (isList: boolean) =>
  isList
    ? invalidField('file_ids', 'are not files that you have uploaded')
    : invalidField('file_id', 'is not a file that you have uploaded');

function toMessage(call: Send): NewMessage {
  const { caller, input, file, idempotencyKey } = call;
  return {
    chat_id: input.chat_id,
    user_id: caller.userId,
    content: input.content ?? '',
    reply_to: input.reply_to ?? null,
    file_id: input.file_id ?? input.file_ids?.[0] ?? null,
    more_files: input.file_ids?.slice(1) ?? [],
    file: file ? keptFile(file) : null,
    key: idempotencyKey === undefined ? null : { ...keyOf(call, idempotencyKey), fingerprint: fingerprintOf(call) },
  };
}

/** Refuses a caller who may not post in the chat before the file of the message is received. */
export const requireMayPost =
  ({ engine, dailyMessages }: Services): Gate =>
  async (caller, { chat_id }) => {
    dailyMessages.require(caller.ownerId);
    if (typeof chat_id === 'number') await accessChatTo(engine, 'send', caller.userId, chat_id as ChatId);
  };
