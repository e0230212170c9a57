import type { FileInfo, Message } from '@parley/contract';
import { isoTime } from './time.ts';

/** A file as it is stored with its message: without its URL, which moves with the server. */
export type KeptFile = Omit<FileInfo, 'url'>;
export type KeptMessage = Omit<Message, 'file'> & { readonly file: KeptFile | null };

/** Returns the fields of a file that are stored with its message. */
export const keptFile = ({ file_id, name, mime_type, size, sha256 }: KeptFile): KeptFile => ({
  file_id,
  name,
  mime_type,
  size,
  sha256,
});

type NewMessage = Pick<Message, 'message_id' | 'chat_id' | 'user_id' | 'content' | 'reply_to'> & {
  readonly file: KeptFile | null;
};

/** Returns a new message as JSON. `renderMessageEvent` relies on the order of the fields. */
export function messageJson({ message_id, chat_id, user_id, content, reply_to, file }: NewMessage, at: number): string {
  const said = `"message_id":${message_id},"chat_id":${chat_id},"user_id":${user_id},"content":${JSON.stringify(content)}`;
  const times = `"created_at":"${isoTime(at)}","edited_at":null,"deleted_at":null`;
  return `{${said},"reply_to":${reply_to},"file":${file && JSON.stringify(file)},"reactions":[],${times}}`;
}

export function edited(message: KeptMessage, content: string, at: number): KeptMessage {
  return { ...message, content, edited_at: isoTime(at) };
}

/** Returns a deleted message: the same fields without content, file and reactions. */
export function tombstone(message: KeptMessage, at: number): Message {
  return { ...message, content: '', file: null, reactions: [], deleted_at: isoTime(at) };
}
