import type { ChatId, ChatType, MessageId, SubscriptionId, UserId } from '@parley/contract';
import type { NotificationChoice } from '../../domain/notification.ts';
import { newestIn } from '../chat/in-chat.ts';
import { bulkStatement, type Db, type Tx, type Value } from '../engine/engine.ts';
import { exists, rowReader } from '../engine/query.ts';
import { accessTables, hasAccess } from './subscriptions.ts';

const choiceColumns = 's.user_id, m.notify, m.muted_until, u.quiet_from, u.quiet_to, u.quiet_time_zone';

/** A subscription of a participant of a chat. */
export type Recipient = NotificationChoice & { readonly subscription_id: SubscriptionId };

/** Returns the subscriptions of the participants of a chat, except those whose access has ended. */
export const recipientsIn = (db: Db, chatId: ChatId, now: number): Promise<Recipient[]> =>
  db.all(
    `SELECT s.subscription_id, ${choiceColumns} FROM push_subscriptions s ${accessTables}
     JOIN members m ON m.chat_id = $1 AND m.user_id = s.user_id AND m.left_event IS NULL
     WHERE m.notify <> 'none' AND ${hasAccess('$2')}`,
    [chatId, now],
  );

export interface NewPending {
  readonly subscription_id: SubscriptionId;
  readonly chat_id: ChatId;
  readonly message_id: MessageId;
  readonly created_at: number;
}

/** A subscription may have been deleted meanwhile. A chat that waits already gets the newer message, and waits no longer. */
const insertion = bulkStatement(
  { subscription_id: 'int', chat_id: 'int', message_id: 'int', created_at: 'int' },
  (source) => `INSERT INTO push_pending (subscription_id, chat_id, message_id, created_at, next_at)
     SELECT n.subscription_id, n.chat_id, n.message_id, n.created_at, $1 FROM ${source} AS n
     WHERE EXISTS (SELECT 1 FROM push_subscriptions s WHERE s.subscription_id = n.subscription_id)
     ON CONFLICT (subscription_id, chat_id) DO UPDATE SET
       message_id = excluded.message_id, created_at = excluded.created_at
     WHERE push_pending.message_id < excluded.message_id`,
);

export async function insertPending(tx: Tx, pending: readonly NewPending[], dueAt: number): Promise<void> {
  const rows = pending.map((p) => [p.subscription_id, p.chat_id, p.message_id, p.created_at]);
  if (rows.length > 0) await tx.bulk(insertion, rows, [dueAt]);
}

/** A push that is due, with everything that decides whether it is sent and what it says. */
export interface DuePush extends NewPending, NotificationChoice {
  readonly attempts: number;
  readonly endpoint: string;
  readonly host: string;
  readonly p256dh: string;
  readonly auth: string;
  readonly with_text: boolean;
  readonly has_access: boolean;
  /** Null if the user has left the chat. */
  readonly last_read_id: number | null;
  readonly type: ChatType;
  readonly chat_name: string;
  readonly author_name: string;
  /** The message as JSON. */
  readonly message: string;
  readonly is_deleted: boolean;
}

const duePushes = rowReader<DuePush>('with_text', 'has_access', 'is_deleted');

export const hasDue = (db: Db, now: number): Promise<boolean> =>
  exists(db, 'SELECT 1 AS one FROM push_pending WHERE next_at <= $1 LIMIT 1', [now]);

const postponement = bulkStatement(
  { subscription_id: 'int', chat_id: 'int' },
  (source) => `UPDATE push_pending SET next_at = $1 FROM ${source} AS d
     WHERE push_pending.subscription_id = d.subscription_id AND push_pending.chat_id = d.chat_id`,
);

/**
 * Takes pushes that are due, oldest first, and not of the given hosts. Nobody else gets them before `until`, so that they
 * are sent once unless this process dies. Returns none while another process takes some.
 */
export async function takeDue(
  tx: Tx,
  { now, until, limit, exceptHosts }: { now: number; until: number; limit: number; exceptHosts: readonly string[] },
): Promise<DuePush[]> {
  if (!(await tx.tryLock('due pushes'))) return [];
  const due = await duePushes.all(
    tx,
    `SELECT p.subscription_id, p.chat_id, p.message_id, p.created_at, p.attempts, ${choiceColumns}, m.last_read_id,
       s.endpoint, s.host, s.p256dh, s.auth, s.with_text, CASE WHEN ${hasAccess('$1')} THEN 1 ELSE 0 END AS has_access,
       c.type, c.name AS chat_name, author.display_name AS author_name, t2.json AS message, t2.is_deleted
     FROM push_pending p JOIN push_subscriptions s ON s.subscription_id = p.subscription_id ${accessTables}
     JOIN chats c ON c.chat_id = p.chat_id JOIN messages t2 ON t2.message_id = p.message_id
     JOIN users author ON author.user_id = t2.user_id
     LEFT JOIN members m ON m.chat_id = p.chat_id AND m.user_id = s.user_id AND m.left_event IS NULL
     WHERE p.next_at <= $1 AND s.host NOT IN (SELECT host FROM ${tx.dialect.rows('$3', { host: 'text' }, 'busy')})
     ORDER BY p.next_at LIMIT $2`,
    [now, limit, JSON.stringify(exceptHosts.map((host) => ({ host })))],
  );
  const keys = due.map(({ subscription_id, chat_id }) => [subscription_id, chat_id]);
  if (keys.length > 0) await tx.bulk(postponement, keys, [until]);
  return due;
}

/** Chats that a badge counts at most. */
const maxBadge = 99;

/** Returns in how many chats each user has unread messages of others. Muted and archived chats do not count. */
export async function badgesOf(db: Db, userIds: readonly UserId[], now: number): Promise<Map<UserId, number>> {
  const newest = newestIn(db.dialect, 'm.chat_id');
  const rows = await db.all<{ user_id: UserId; badge: number }>(
    `SELECT asked.user_id, (SELECT count(*) FROM (
       SELECT 1 AS one FROM members m
       WHERE m.user_id = asked.user_id AND m.left_event IS NULL AND m.is_archived = 0 AND m.notify <> 'none'
         AND (m.muted_until IS NULL OR m.muted_until <= $2) AND ${newest} > m.last_read_id
         AND (SELECT n.user_id FROM messages n WHERE n.message_id = ${newest}) <> asked.user_id
       LIMIT ${maxBadge}
     ) AS unread) AS badge
     FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}`,
    [JSON.stringify(userIds.map((user_id) => ({ user_id }))), now],
  );
  return new Map(rows.map(({ user_id, badge }) => [user_id, badge]));
}

/** The end of a push, or its next try: it is over, it is tried again after an attempt or without one, or its subscription is deleted. */
export type PushEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'retry' | 'later'; readonly nextAt: number };

export interface PushResult extends Pick<NewPending, 'subscription_id' | 'chat_id' | 'message_id'> {
  readonly end: PushEnd;
}

const deletion = bulkStatement(
  { subscription_id: 'int', chat_id: 'int', message_id: 'int' },
  (source) => `DELETE FROM push_pending WHERE (subscription_id, chat_id, message_id) IN (
       SELECT subscription_id, chat_id, message_id FROM ${source} AS d)`,
);

/** A newer message came while the push was sent. */
const renewal = bulkStatement(
  { subscription_id: 'int', chat_id: 'int' },
  (source) => `UPDATE push_pending SET next_at = $1, attempts = 0 FROM ${source} AS d
     WHERE push_pending.subscription_id = d.subscription_id AND push_pending.chat_id = d.chat_id`,
);

const retrial = bulkStatement(
  { subscription_id: 'int', chat_id: 'int', next_at: 'int', made: 'int' },
  (source) => `UPDATE push_pending SET next_at = d.next_at, attempts = attempts + d.made FROM ${source} AS d
     WHERE push_pending.subscription_id = d.subscription_id AND push_pending.chat_id = d.chat_id`,
);

const removal = bulkStatement(
  { subscription_id: 'int' },
  (source) => `DELETE FROM push_subscriptions WHERE subscription_id IN (SELECT subscription_id FROM ${source} AS d)`,
);

/** Stores what became of pushes. */
export async function storeResults(tx: Tx, results: readonly PushResult[], now: number): Promise<void> {
  const done: Value[][] = [];
  const retried: Value[][] = [];
  const gone: Value[][] = [];
  for (const { subscription_id, chat_id, message_id, end } of results) {
    if (end.kind === 'done') done.push([subscription_id, chat_id, message_id]);
    else if (end.kind === 'gone') gone.push([subscription_id]);
    else retried.push([subscription_id, chat_id, end.nextAt, end.kind === 'retry' ? 1 : 0]);
  }
  if (done.length > 0) {
    await tx.bulk(deletion, done);
    await tx.bulk(
      renewal,
      done.map((key) => key.slice(0, 2)),
      [now],
    );
  }
  if (retried.length > 0) await tx.bulk(retrial, retried);
  if (gone.length > 0) await tx.bulk(removal, gone);
}
