import type { FileInfo, Message } from '@parley/contract';
import type { Mentions } from './mentions.ts';
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

type NewMessage = Pick<Message, 'message_id' | 'chat_id' | 'user_id' | 'content' | 'thread_id' | 'reply_to'> &
  Mentions & { readonly file: KeptFile | null };

/** Returns a new message as JSON. `renderMessageEvent` relies on the order of the fields. */
export function messageJson(message: NewMessage, at: number): string {
  const { message_id, chat_id, user_id, content, mentions, mentions_all, thread_id, reply_to, file } = message;
  const said = `"message_id":${message_id},"chat_id":${chat_id},"user_id":${user_id},"content":${JSON.stringify(content)}`;
  const mentioned = (mentions ? `,"mentions":[${mentions}]` : '') + (mentions_all ? ',"mentions_all":true' : '');
  const thread = thread_id === undefined ? '' : `,"thread_id":${thread_id}`;
  const times = `"created_at":"${isoTime(at)}","edited_at":null,"deleted_at":null`;
  return `{${said}${mentioned}${thread},"reply_to":${reply_to},"file":${file && JSON.stringify(file)},"reactions":[],${times}}`;
}

export function edited(
  { mentions: _, mentions_all: __, ...message }: KeptMessage,
  content: string,
  mentions: Mentions | undefined,
  at: number,
): KeptMessage {
  return { ...message, content, ...mentions, edited_at: isoTime(at) };
}

/** Returns a deleted message: the same fields without content, mentions, file and reactions. */
export function tombstone({ mentions: _, mentions_all: __, ...message }: KeptMessage, at: number): Message {
  return { ...message, content: '', file: null, reactions: [], deleted_at: isoTime(at) };
}
