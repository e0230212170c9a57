import type { Chat, FileInfo, Message, User } from '@parley-chat/sdk';

/** The newest message of a chat, as its entry in the list shows it. */
export type Preview = Readonly<Omit<NonNullable<Chat['last_message']>, 'name' | 'display_name'>>;

export type ChatRecord = Readonly<Omit<Chat, 'last_message'>> & {
  readonly last_message: Preview | null;
  /** Sorts the list: the id of the newest message when something last happened in the chat. */
  readonly activity: number;
};
/** A chat without what each message changes. */
export type ChatHead = Omit<
  ChatRecord,
  'last_message' | 'last_message_id' | 'last_read_id' | 'unread_count' | 'mention_count' | 'activity'
>;
/** A chat as the server sends it. */
export type SentChat = Omit<ChatRecord, 'activity'>;
export type MessageRecord = Readonly<Message>;
export type UserRecord = Readonly<
  Pick<User, 'user_id' | 'name' | 'display_name' | 'kind' | 'status_text' | 'avatar_url'>
>;

/** The signed-in person, as the page says. */
export interface Me {
  readonly user_id: number;
  readonly name: string;
  readonly display_name: string;
  readonly is_admin: boolean;
}

export function headOf({
  last_message: _,
  last_message_id: __,
  last_read_id: ___,
  unread_count: ____,
  mention_count: _____,
  activity: ______,
  ...head
}: ChatRecord): ChatHead {
  return head;
}

/** Characters of a message in the list. */
export const maxPreview = 200;

/** Returns all files of a message. */
export const filesOf = ({ file, files }: Pick<MessageRecord, 'file' | 'files'>): readonly FileInfo[] =>
  files ?? (file ? [file] : []);

export const previewOf = ({ message_id, user_id, content, file, created_at }: MessageRecord): Preview => ({
  message_id,
  user_id,
  content: content.slice(0, maxPreview),
  file: file?.name ?? null,
  created_at,
});

/** Returns the fields of a user that the client keeps. */
export const userRecord = ({ user_id, name, display_name, kind, status_text, avatar_url }: UserRecord): UserRecord => ({
  user_id,
  name,
  display_name,
  kind,
  status_text,
  avatar_url,
});

/** Returns whether a chat sends no notifications now. */
export const isMuted = (
  { notify, muted_until }: Pick<ChatRecord, 'notify' | 'muted_until'>,
  now = Date.now(),
): boolean => notify === 'none' || (muted_until !== null && Date.parse(muted_until) > now);
