import type { Message } from '@parley/contract';
import { isoTime } from './time.ts';

/** A message at its beginning. */
export function newMessage(
  {
    message_id,
    chat_id,
    user_id,
    content,
    reply_to,
  }: Pick<Message, 'message_id' | 'chat_id' | 'user_id' | 'content' | 'reply_to'>,
  at: number,
): Message {
  const untouched = { file: null, reactions: [], created_at: isoTime(at), edited_at: null, deleted_at: null };
  return { message_id, chat_id, user_id, content, reply_to, ...untouched };
}

export function edited(message: Message, content: string, at: number): Message {
  return { ...message, content, edited_at: isoTime(at) };
}

/** What is left of a deleted message: its place, without what it said. */
export function tombstone(message: Message, at: number): Message {
  return { ...message, content: '', reactions: [], deleted_at: isoTime(at) };
}
