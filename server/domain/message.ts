import type { FileInfo, Message } from '@parley/contract';
import { isoTime } from './time.ts';

/** A file as it is stored with its message: without its URL, which moves with the server. */
export type KeptFile = Omit<FileInfo, 'url'>;
export type KeptMessage = Omit<Message, 'file'> & { readonly file: KeptFile | null };

export function newMessage(
  {
    message_id,
    chat_id,
    user_id,
    content,
    reply_to,
    file,
  }: Pick<KeptMessage, 'message_id' | 'chat_id' | 'user_id' | 'content' | 'reply_to' | 'file'>,
  at: number,
): KeptMessage {
  const untouched = { reactions: [], created_at: isoTime(at), edited_at: null, deleted_at: null };
  return { message_id, chat_id, user_id, content, reply_to, file, ...untouched };
}

export function edited(message: KeptMessage, content: string, at: number): KeptMessage {
  return { ...message, content, edited_at: isoTime(at) };
}

/** Returns a deleted message: the same fields without content, file and reactions. */
export function tombstone(message: KeptMessage, at: number): Message {
  return { ...message, content: '', file: null, reactions: [], deleted_at: isoTime(at) };
}
