import type { Unsent } from '../outbox/outbox.ts';
import type { MessageRecord } from '../store/records.ts';
import type { Timeline } from '../store/timeline.ts';
import { dayKey } from './time.ts';

/** A row of the message list. */
export type Row =
  | { readonly kind: 'start'; readonly key: string }
  | { readonly kind: 'day'; readonly key: string; readonly at: string }
  | { readonly kind: 'unread'; readonly key: string }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly message: MessageRecord;
      /** Follows one of the same author closely, and needs no head of its own. */
      readonly isContinued: boolean;
    }
  | { readonly kind: 'unsent'; readonly key: string; readonly item: Unsent; readonly isContinued: boolean };

const groupMs = 5 * 60_000;

/** Returns the rows of a timeline: its messages with days and the unread line between them, then what is not sent yet. */
export function rowsOf(
  { messages, hasOlder, hasNewer }: Timeline,
  unsent: readonly Unsent[],
  firstUnread: number | undefined,
  me: number,
): Row[] {
  const rows: Row[] = hasOlder ? [] : [{ kind: 'start', key: 'start' }];
  let before: MessageRecord | undefined;
  for (const message of messages) {
    const isNewDay = !before || dayKey(before.created_at) !== dayKey(message.created_at);
    const isUnread = message.message_id === firstUnread;
    if (isNewDay) rows.push({ kind: 'day', key: `day ${message.message_id}`, at: message.created_at });
    if (isUnread) rows.push({ kind: 'unread', key: 'unread' });
    const isContinued = !isNewDay && !isUnread && before !== undefined && follows(before, message);
    rows.push({ kind: 'message', key: String(message.message_id), message, isContinued });
    before = message;
  }
  if (hasNewer) return rows;
  for (const [i, item] of unsent.entries()) {
    const isContinued = i > 0 || before?.user_id === me;
    rows.push({ kind: 'unsent', key: `unsent ${item.key}`, item, isContinued });
  }
  return rows;
}

const follows = (before: MessageRecord, message: MessageRecord): boolean =>
  before.user_id === message.user_id &&
  message.reply_to === null &&
  before.deleted_at === null &&
  Date.parse(message.created_at) - Date.parse(before.created_at) < groupMs;

/** Returns the first of the unread messages: those of others, counted from the end. */
export function firstUnreadIn(messages: readonly MessageRecord[], unreadCount: number, me: number): number | undefined {
  let left = unreadCount;
  let first: number | undefined;
  for (let i = messages.length - 1; i >= 0 && left > 0; i--) {
    const message = messages[i];
    if (!message || message.user_id === me || message.deleted_at !== null) continue;
    first = message.message_id;
    left--;
  }
  return first;
}
