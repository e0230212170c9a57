import { filesOf, type KeptMessage } from '../domain/message.ts';
import { isMentioned } from '../domain/notification.ts';
import type { DuePush } from '../store/push/pending.ts';
import { maxPlainBytes } from './encryption.ts';

/** The payload that a service worker gets. */
export interface Notification {
  readonly kind: 'message';
  readonly chat_id: number;
  /** Absent in a direct chat, which has no name. */
  readonly chat_name?: string;
  readonly message_id: number;
  readonly author_id: number;
  readonly author_name: string;
  /** The start of the text. Absent if the subscription wants none. */
  readonly text?: string;
  /** The name of the first file. */
  readonly file_name?: string;
  readonly is_mention: boolean;
  readonly sent_at: string;
  /** The number of chats with unread messages. */
  readonly badge: number;
}

/** Characters of the text. Phones show about 200. */
const maxTextCharacters = 500;

/** Bodies are filled up to a multiple of this, or to the largest body, so that their length tells a push service little of the text. */
const paddingBytes = 512;

/** Returns the JSON of a notification, which fits into a push message. */
export function renderNotification(due: DuePush, message: KeptMessage, badge: number): Buffer {
  const [file] = filesOf(message);
  const base = {
    kind: 'message' as const,
    chat_id: due.chat_id,
    ...(due.type !== 'direct' && { chat_name: start(due.chat_name, 100) }),
    message_id: due.message_id,
    author_id: message.user_id,
    author_name: start(due.author_name, 100),
    is_mention: isMentioned(due.user_id, message),
    sent_at: message.created_at,
    badge,
  };
  if (!due.with_text) return padded(base);
  const text = start(message.content, maxTextCharacters);
  const whole = padded({ ...base, text, ...(file && { file_name: start(file.name, 100) }) });
  // A character may take six bytes in JSON.
  return whole.length <= maxPlainBytes ? whole : padded({ ...base, text: start(text, maxTextCharacters / 4) });
}

function padded(notification: Notification): Buffer {
  const json = Buffer.from(JSON.stringify(notification));
  const length = Math.min(Math.ceil(json.length / paddingBytes) * paddingBytes, maxPlainBytes);
  return Buffer.concat([json, Buffer.alloc(Math.max(0, length - json.length), ' ')]);
}

/** Returns the first characters of a text. A character of several code units is not cut in two. */
function start(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
