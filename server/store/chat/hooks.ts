import type { ChatId, ChatType, HookId, Role, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { exists, insertRow, number, rowReader, values } from '../engine/query.ts';

export interface HookRow {
  readonly hook_id: HookId;
  readonly chat_id: ChatId;
  /** The bot that it posts as. */
  readonly bot_id: UserId;
  /** Whether the bot was created for it. */
  readonly owns_bot: boolean;
  readonly created_by: UserId;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly type: ChatType;
  /** The role of its creator in the chat. Null if the creator is not a participant. */
  readonly role: Role | null;
}

const columns = `h.hook_id, h.chat_id, h.bot_id, h.owns_bot, h.created_by, h.created_at, h.last_used_at,
  (SELECT c.type FROM chats c WHERE c.chat_id = h.chat_id) AS type,
  (SELECT m.role FROM members m WHERE m.chat_id = h.chat_id AND m.user_id = h.created_by AND m.left_event IS NULL) AS role`;
const hooks = rowReader<HookRow>('owns_bot');

export const findHookByHash = (db: Db, hash: string): Promise<HookRow | undefined> =>
  hooks.get(db, `SELECT ${columns} FROM hooks h WHERE h.hash = $1`, [hash]);

export const findHook = (db: Db, hookId: HookId): Promise<HookRow | undefined> =>
  hooks.get(db, `SELECT ${columns} FROM hooks h WHERE h.hook_id = $1`, [hookId]);

export const listHooksOfChat = (db: Db, chatId: ChatId): Promise<HookRow[]> =>
  hooks.all(db, `SELECT ${columns} FROM hooks h WHERE h.chat_id = $1 ORDER BY h.hook_id`, [chatId]);

export const listHooksBy = (db: Db, userId: UserId): Promise<HookRow[]> =>
  hooks.all(db, `SELECT ${columns} FROM hooks h WHERE h.created_by = $1 ORDER BY h.hook_id`, [userId]);

export const countHooksBy = (db: Db, userId: UserId): Promise<number> =>
  number(db, 'SELECT count(*) AS hooks FROM hooks WHERE created_by = $1', [userId]);

export const countHooksOfChat = (db: Db, chatId: ChatId): Promise<number> =>
  number(db, 'SELECT count(*) AS hooks FROM hooks WHERE chat_id = $1', [chatId]);

export const hasHooks = (db: Db, botId: UserId): Promise<boolean> =>
  exists(db, 'SELECT 1 AS one FROM hooks WHERE bot_id = $1 LIMIT 1', [botId]);

/** Returns whether a bot was created for a hook. */
export const ownsBot = (db: Db, botId: UserId): Promise<boolean> =>
  exists(db, 'SELECT 1 AS one FROM hooks WHERE bot_id = $1 AND owns_bot = 1 LIMIT 1', [botId]);

/** Returns the chats that a bot posts into through hooks, and is not in. */
export const chatsOfHooks = (db: Db, botId: UserId): Promise<ChatId[]> =>
  values<ChatId>(
    db,
    `SELECT DISTINCT h.chat_id FROM hooks h WHERE h.bot_id = $1 AND NOT EXISTS (
       SELECT 1 FROM members m WHERE m.chat_id = h.chat_id AND m.user_id = h.bot_id AND m.left_event IS NULL
     ) ORDER BY h.chat_id`,
    [botId],
  );

export interface NewHook extends Pick<HookRow, 'chat_id' | 'bot_id' | 'owns_bot' | 'created_by' | 'created_at'> {
  readonly hash: string;
}

export async function insertHook(tx: Tx, hook: NewHook): Promise<HookId> {
  const { hook_id } = await insertRow<{ hook_id: HookId }, Record<keyof NewHook, number | string>>(
    tx,
    'hooks',
    ['chat_id', 'bot_id', 'owns_bot', 'created_by', 'hash', 'created_at'],
    { ...hook, owns_bot: hook.owns_bot ? 1 : 0 },
    'hook_id',
  );
  return hook_id;
}

export async function deleteHook(tx: Tx, hookId: HookId): Promise<void> {
  await tx.run('DELETE FROM hooks WHERE hook_id = $1', [hookId]);
}

/** Deletes the hooks that a user created, and those that post as the user. */
export async function deleteHooksOf(tx: Tx, userId: UserId): Promise<void> {
  await tx.run('DELETE FROM hooks WHERE created_by = $1 OR bot_id = $1', [userId]);
}

/** A later use within this time is not stored: the list need not be exact, and each costs a write. */
const useEveryMs = 60_000;

export async function recordHookUse(tx: Tx, hookId: HookId, at: number): Promise<void> {
  await tx.run('UPDATE hooks SET last_used_at = $2 WHERE hook_id = $1', [hookId, at]);
}

/** Returns whether a use is to be stored. */
export const isNewUse = ({ last_used_at }: HookRow, at: number): boolean =>
  last_used_at === null || at - last_used_at >= useEveryMs;
