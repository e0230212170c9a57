import type { FileInfo, Message } from '@parley/contract';
import type { Mentions } from './mentions.ts';
import { isoTime } from './time.ts';

/** A file as it is stored with its message: without its URL, which moves with the server. */
export type KeptFile = Omit<FileInfo, 'url' | 'thumbnail_url'>;

/** Larger images have no thumbnail. */
export const maxPictureBytes = 20 * 1_024 ** 2;

/** Longer and narrower images have no thumbnail: a row takes as long as many pixels. 1×24,000,000 of 47 kB took 2 s. */
const maxThumbnailOf = { side: 32_768, ratio: 50 } as const;

export type KeptMessage = Omit<Message, 'file' | 'files'> & {
  readonly file: KeptFile | null;
  /** All files, if there are several. */
  readonly files?: readonly KeptFile[] | undefined;
};

/** Returns all files of a message. */
export const filesOf = ({ file, files }: Pick<KeptMessage, 'file' | 'files'>): readonly KeptFile[] =>
  files ?? (file ? [file] : []);

/** Returns the fields of a file that are stored with its message. */
export function keptFile({ file_id, name, mime_type, size, sha256, width, height }: StoredFile): KeptFile {
  return { file_id, name, mime_type, size, sha256, ...(width && height && { width, height }) };
}

/** A file of the database, in which a file that is no image has no dimensions. */
type StoredFile = Omit<KeptFile, 'width' | 'height'> & {
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
};

/** Returns why a file has no thumbnail, as a sentence, or undefined if it may have one. */
export function noThumbnail({
  width,
  height,
  size,
}: Pick<StoredFile, 'width' | 'height' | 'size'>): string | undefined {
  if (!width || !height || size > maxPictureBytes) return 'This file has no thumbnail.';
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const isTooLong = long > maxThumbnailOf.side || long > short * maxThumbnailOf.ratio;
  return isTooLong ? 'This picture is too long or too narrow for a thumbnail.' : undefined;
}

/** Returns a file with its URLs, given that of its bytes. */
export function withUrls(file: KeptFile, url: string): FileInfo {
  if (noThumbnail(file) !== undefined) return { ...file, url };
  return { ...file, url, thumbnail_url: url.replace('=download&', '=thumbnail&') };
}

type NewMessage = Pick<Message, 'message_id' | 'chat_id' | 'user_id' | 'content' | 'thread_id' | 'reply_to'> &
  Mentions & { readonly file: KeptFile | null; readonly files?: readonly KeptFile[] | undefined };

/** Returns a new message as JSON. `renderMessageEvent` relies on the order of the fields. */
export function messageJson(message: NewMessage, at: number): string {
  const { message_id, chat_id, user_id, content, mentions, mentions_all, thread_id, reply_to, file, files } = message;
  const said = `"message_id":${message_id},"chat_id":${chat_id},"user_id":${user_id},"content":${JSON.stringify(content)}`;
  const mentioned = (mentions ? `,"mentions":[${mentions}]` : '') + (mentions_all ? ',"mentions_all":true' : '');
  const thread = thread_id === undefined ? '' : `,"thread_id":${thread_id}`;
  const times = `"created_at":"${isoTime(at)}","edited_at":null,"deleted_at":null`;
  const all = files ? `,"files":${JSON.stringify(files)}` : '';
  const sent = `"reply_to":${reply_to},"file":${file && JSON.stringify(file)}${all},"reactions":[]`;
  return `{${said}${mentioned}${thread},${sent},${times}}`;
}

export function edited(
  { mentions: _, mentions_all: __, ...message }: KeptMessage,
  content: string,
  mentions: Mentions | undefined,
  at: number,
): KeptMessage {
  return { ...message, content, ...mentions, edited_at: isoTime(at) };
}

/** Returns a deleted message: the same fields without content, mentions, files and reactions. */
export function tombstone({ mentions: _, mentions_all: __, files: ___, ...message }: KeptMessage, at: number): Message {
  return { ...message, content: '', file: null, reactions: [], deleted_at: isoTime(at) };
}
