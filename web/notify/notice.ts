import { text } from '../text/text.ts';

/** The content of a notification of a message. The server pushes the same. */
export interface MessageNotice {
  readonly kind: 'message';
  readonly chat_id: number;
  /** Absent in a direct chat. */
  readonly chat_name?: string | undefined;
  readonly message_id: number;
  readonly author_name: string;
  /** Absent if the user wants no text. */
  readonly text?: string | undefined;
  readonly file_name?: string | undefined;
  readonly is_mention: boolean;
  readonly sent_at: string;
  /** Chats with unread messages. */
  readonly badge?: number | undefined;
}

/** The message that a notification leads to. */
export interface NoticeTarget {
  readonly chat_id: number;
  readonly message_id: number;
}

export function targetOf({ data }: Pick<Notification, 'data'>): NoticeTarget | undefined {
  const target = data as Partial<NoticeTarget> | null;
  if (typeof target?.chat_id !== 'number' || typeof target.message_id !== 'number') return undefined;
  return { chat_id: target.chat_id, message_id: target.message_id };
}

export const titleOf = ({ author_name, chat_name }: MessageNotice): string =>
  chat_name === undefined ? author_name : text.notice.inChat({ author: author_name, chat: chat_name });

export const bodyOf = ({ text: written, file_name, is_mention }: MessageNotice): string =>
  written || file_name || (is_mention ? text.notice.mention : text.notice.message);

/** Browsers know these options, and TypeScript does not. */
interface Options extends NotificationOptions {
  readonly renotify?: boolean;
  readonly timestamp?: number;
}

/**
 * Shows a notification. It replaces the one of the same chat. The system rings only if it is new: a push may repeat the message
 * that a tab has shown.
 */
export async function showNotice(
  registration: ServiceWorkerRegistration,
  notice: MessageNotice,
  { silent = false } = {},
): Promise<void> {
  const { chat_id, message_id, sent_at } = notice;
  const tag = `chat-${chat_id}`;
  const [shown] = await registration.getNotifications({ tag });
  const before = shown && targetOf(shown)?.message_id;
  const options: Options = {
    tag,
    body: bodyOf(notice),
    icon: '/assets/icon-192.png',
    data: { chat_id, message_id } satisfies NoticeTarget,
    timestamp: Date.parse(sent_at),
    silent,
    renotify: !silent && before !== undefined && before < message_id,
  };
  await registration.showNotification(titleOf(notice), options);
}
