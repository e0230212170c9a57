import type { Unsent } from '../outbox/outbox.ts';
import type { ChatRecord, MessageRecord } from '../store/records.ts';
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
  let dayBefore: number | undefined;
  for (const message of messages) {
    const day = dayKey(message.created_at);
    const isNewDay = day !== dayBefore;
    dayBefore = day;
    const isUnread = message.message_id === firstUnread;
    if (isNewDay) rows.push({ kind: 'day', key: `day ${message.message_id}`, at: message.created_at });
    if (isUnread) rows.push({ kind: 'unread', key: 'unread' });
    const isContinued = !isNewDay && !isUnread && before !== undefined && follows(before, message);
    rows.push({ kind: 'message', key: String(message.message_id), message, isContinued });
    before = message;
  }
  if (hasNewer) return rows;
  // They look as they will when they are sent, so that nothing moves then.
  let last: Written | undefined = before;
  for (const item of unsent) {
    const written = writtenBy(me, item);
    const day = dayKey(written.created_at);
    const isNewDay = day !== dayBefore;
    dayBefore = day;
    if (isNewDay) rows.push({ kind: 'day', key: `day ${item.key}`, at: written.created_at });
    const isContinued = !isNewDay && last !== undefined && follows(last, written);
    rows.push({ kind: 'unsent', key: `unsent ${item.key}`, item, isContinued });
    last = written;
  }
  return rows;
}

/** Returns the rows, with those of before in the place of equal ones. What shows a row then need not do so again. */
export function keepRows(before: readonly Row[], rows: readonly Row[]): Row[] {
  const known = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const old = known.get(row.key);
    return old && isSame(old, row) ? old : row;
  });
}

function isSame(a: Row, b: Row): boolean {
  if (a.kind === 'message') return b.kind === 'message' && a.message === b.message && a.isContinued === b.isContinued;
  if (a.kind === 'unsent') return b.kind === 'unsent' && a.item === b.item && a.isContinued === b.isContinued;
  return a.kind === b.kind;
}

type Written = Pick<MessageRecord, 'user_id' | 'reply_to' | 'created_at' | 'deleted_at'>;

const writtenBy = (me: number, { reply_to, created_at }: Unsent): Written => ({
  user_id: me,
  reply_to,
  created_at: new Date(created_at).toISOString(),
  deleted_at: null,
});

const follows = (before: Written, message: Written): boolean =>
  before.user_id === message.user_id &&
  message.reply_to === null &&
  before.deleted_at === null &&
  Date.parse(message.created_at) - Date.parse(before.created_at) < groupMs;

/** Returns the first of the unread messages, which are those of others after the read marker. */
export function firstUnreadIn(
  { messages, hasOlder, hasNewer }: Timeline,
  { last_read_id, unread_count }: Pick<ChatRecord, 'last_read_id' | 'unread_count'>,
  me: number,
): number | undefined {
  if (unread_count === 0) return undefined;
  const first = messages[0]?.message_id ?? 0;
  if (last_read_id !== null && (first <= last_read_id || !hasOlder)) {
    return messages.find(
      ({ message_id, user_id, deleted_at }) => message_id > last_read_id && user_id !== me && deleted_at === null,
    )?.message_id;
  }
  return hasNewer ? undefined : countedFromEnd(messages, unread_count, me);
}

function countedFromEnd(messages: readonly MessageRecord[], unreadCount: number, me: number): number | undefined {
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
