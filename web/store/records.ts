import type { Chat, FileInfo, Message, User } from '@parley-chat/sdk';

/** The newest message of a chat, as its entry in the list shows it. */
export interface LastMessage {
  readonly message_id: number;
  readonly user_id: number;
  readonly content: string;
  /** The name of its file. */
  readonly file: string | null;
  readonly created_at: string;
}

/** The other person of a direct chat. */
export interface Peer {
  readonly user_id: number;
  readonly name: string;
  readonly display_name: string;
}

/** Fields of a chat that the server may not send yet, or that the client adds. */
interface ChatExtras {
  readonly last_message?: LastMessage | null;
  readonly peer?: Peer | null;
  readonly mention_count?: number;
  readonly pinned?: boolean;
  readonly notify?: 'all' | 'mentions' | 'none';
  /** Sorts the list: the id of the newest message when something last happened in the chat. */
  readonly activity: number;
}

export type ChatRecord = Readonly<Omit<Chat, keyof ChatExtras>> & ChatExtras;
export type MessageRecord = Readonly<Message>;
export type UserRecord = Readonly<Pick<User, 'user_id' | 'name' | 'display_name' | 'kind'>>;

/** The signed-in person, as the page says. */
export interface Me {
  readonly user_id: number;
  readonly name: string;
  readonly display_name: string;
  readonly is_admin: boolean;
}

/** Returns all files of a message. */
export const filesOf = ({ file, files }: Pick<MessageRecord, 'file' | 'files'>): readonly FileInfo[] =>
  files ?? (file ? [file] : []);

const maxPreview = 200;

export const lastMessageOf = ({ message_id, user_id, content, file, created_at }: MessageRecord): LastMessage => ({
  message_id,
  user_id,
  content: content.slice(0, maxPreview),
  file: file?.name ?? null,
  created_at,
});
