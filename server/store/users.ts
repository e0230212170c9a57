import type { UserId } from '@parley/contract';
import { fold } from '../domain/words.ts';
import { containing } from './chats.ts';
import type { Db, Tx } from './engine.ts';

export interface UserRow {
  readonly user_id: UserId;
  readonly name: string;
  readonly display_name: string;
  readonly is_admin: number;
  readonly created_at: number;
  readonly disabled_at: number | null;
}

const columns = 'user_id, name, display_name, is_admin, created_at, disabled_at';

export function findUser(db: Db, userId: UserId): Promise<UserRow | undefined> {
  return db.get(`SELECT ${columns} FROM users WHERE user_id = $1`, userId);
}

export function findUserByName(db: Db, name: string): Promise<UserRow | undefined> {
  return db.get(`SELECT ${columns} FROM users WHERE name_key = $1`, fold(name));
}

export function searchUsers(db: Db, query: string | undefined, afterId: number, limit: number): Promise<UserRow[]> {
  return db.all(
    `SELECT ${columns} FROM users
     WHERE user_id > $1 AND disabled_at IS NULL AND search_key LIKE $2 ESCAPE '!' ORDER BY user_id LIMIT $3`,
    afterId,
    containing(query),
    limit,
  );
}

/** Everyone, the disabled too, by id: for operators. */
export function listUsers(db: Db, afterId: number, limit: number): Promise<UserRow[]> {
  return db.all(`SELECT ${columns} FROM users WHERE user_id > $1 ORDER BY user_id LIMIT $2`, afterId, limit);
}

/** Those of the ids that belong to nobody, or to somebody who is disabled. */
export async function unknownUsers(db: Db, userIds: readonly UserId[]): Promise<UserId[]> {
  const known = await db.all<{ user_id: UserId }>(
    `SELECT u.user_id FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id AND u.disabled_at IS NULL`,
    JSON.stringify(userIds.map((user_id) => ({ user_id }))),
  );
  const found = new Set(known.map((u) => u.user_id));
  return userIds.filter((id) => !found.has(id));
}

export interface NewUser {
  readonly name: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
  readonly passwordHash: string | null;
  readonly at: number;
}

/** Answers nothing where the name is taken. */
export function insertUser(tx: Tx, user: NewUser): Promise<UserRow | undefined> {
  return tx.get(
    `INSERT INTO users (name, name_key, display_name, search_key, is_admin, password_hash, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name_key) DO NOTHING RETURNING ${columns}`,
    user.name,
    fold(user.name),
    user.displayName,
    fold(`${user.name} ${user.displayName}`),
    user.isAdmin ? 1 : 0,
    user.passwordHash,
    user.at,
  );
}

export async function disableUser(tx: Tx, userId: UserId, at: number): Promise<void> {
  await tx.run('UPDATE users SET disabled_at = $2 WHERE user_id = $1 AND disabled_at IS NULL', userId, at);
}

export async function countAdmins(db: Db): Promise<number> {
  const row = await db.get<{ admins: number }>(
    'SELECT count(*) AS admins FROM users WHERE is_admin = 1 AND disabled_at IS NULL',
  );
  return row?.admins ?? 0;
}
