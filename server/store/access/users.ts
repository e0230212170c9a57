import type { UserId } from '@parley/contract';
import { fold } from '../../domain/words.ts';
import { containing } from '../chat/chats.ts';
import type { Db, Tx } from '../engine/engine.ts';
import { number, rowReader } from '../engine/query.ts';

export type UserKind = 'person' | 'bot';

export interface UserRow {
  readonly user_id: UserId;
  readonly kind: UserKind;
  /** The owner of a bot. Null for a person. */
  readonly owner_id: UserId | null;
  readonly name: string;
  readonly display_name: string;
  readonly status_text: string;
  readonly time_zone: string | null;
  /** Changes with the picture. Null if there is none. */
  readonly avatar: string | null;
  readonly is_admin: boolean;
  readonly created_at: number;
  readonly disabled_at: number | null;
}

const columns =
  'user_id, kind, owner_id, name, display_name, status_text, time_zone, avatar, is_admin, created_at, disabled_at';
const users = rowReader<UserRow>('is_admin');

export const findUser = (db: Db, userId: UserId): Promise<UserRow | undefined> =>
  users.get(db, `SELECT ${columns} FROM users WHERE user_id = $1`, [userId]);

/** Returns those of the users who exist, by id. */
export const findUsers = (db: Db, userIds: readonly UserId[]): Promise<UserRow[]> =>
  users.all(
    db,
    `SELECT ${columns} FROM users
     WHERE user_id IN (SELECT asked.user_id FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}) ORDER BY user_id`,
    [JSON.stringify(userIds.map((user_id) => ({ user_id })))],
  );

export const findUserByName = (db: Db, name: string): Promise<UserRow | undefined> =>
  users.get(db, `SELECT ${columns} FROM users WHERE name_key = $1`, [fold(name)]);

export const searchUsers = (db: Db, query: string | undefined, afterId: number, limit: number): Promise<UserRow[]> =>
  users.all(
    db,
    `SELECT ${columns} FROM users
     WHERE user_id > $1 AND disabled_at IS NULL AND search_key LIKE $2 ESCAPE '!' ORDER BY user_id LIMIT $3`,
    [afterId, containing(query), limit],
  );

/** Returns users by id, disabled ones too. With a query, those whose name or display name contains it. */
export const listUsers = (db: Db, afterId: number, limit: number, query?: string): Promise<UserRow[]> =>
  users.all(
    db,
    `SELECT ${columns} FROM users WHERE user_id > $1 AND search_key LIKE $2 ESCAPE '!' ORDER BY user_id LIMIT $3`,
    [afterId, containing(query), limit],
  );

/** Returns names by user id, those of disabled users too. */
export async function namesOf(db: Db, userIds: Iterable<number>): Promise<ReadonlyMap<number, string>> {
  const rows = await db.all<{ user_id: UserId; name: string }>(
    `SELECT u.user_id, u.name FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id`,
    [JSON.stringify([...new Set(userIds)].map((user_id) => ({ user_id })))],
  );
  return new Map(rows.map(({ user_id, name }) => [user_id, name]));
}

/** Returns the ids that belong to no user or to a disabled one. */
export async function unknownUsers(db: Db, userIds: readonly UserId[]): Promise<UserId[]> {
  const known = await db.all<{ user_id: UserId }>(
    `SELECT u.user_id FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id AND u.disabled_at IS NULL`,
    [JSON.stringify(userIds.map((user_id) => ({ user_id })))],
  );
  const found = new Set(known.map((u) => u.user_id));
  return userIds.filter((id) => !found.has(id));
}

/** Returns the bots of a person that are not disabled. */
export const listBots = (db: Db, ownerId: UserId): Promise<UserRow[]> =>
  users.all(db, `SELECT ${columns} FROM users WHERE owner_id = $1 AND disabled_at IS NULL ORDER BY user_id`, [ownerId]);

/** A person who may sign in. The hash is null if there is no password. */
export type SignInRow = UserRow & { readonly password_hash: string | null };
const signIns = rowReader<SignInRow>('is_admin');

export const findSignIn = (db: Db, name: string): Promise<SignInRow | undefined> =>
  signIns.get(db, `SELECT ${columns}, password_hash FROM users WHERE name_key = $1 AND kind = 'person'`, [fold(name)]);

export async function setPassword(tx: Tx, userId: UserId, passwordHash: string): Promise<void> {
  await tx.run('UPDATE users SET password_hash = $2 WHERE user_id = $1', [userId, passwordHash]);
}

export interface NewUser {
  readonly name: string;
  readonly displayName: string;
  readonly isAdmin: boolean;
  readonly passwordHash: string | null;
  /** The owner, if it is a bot. */
  readonly ownerId?: UserId | undefined;
  readonly at: number;
}

/** Returns undefined if the name is taken. */
export const insertUser = (tx: Tx, user: NewUser): Promise<UserRow | undefined> =>
  users.get(
    tx,
    `INSERT INTO users (name, name_key, display_name, search_key, is_admin, password_hash, created_at, kind, owner_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (name_key) DO NOTHING RETURNING ${columns}`,
    [
      user.name,
      fold(user.name),
      user.displayName,
      fold(`${user.name} ${user.displayName}`),
      user.isAdmin ? 1 : 0,
      user.passwordHash,
      user.at,
      user.ownerId === undefined ? 'person' : 'bot',
      user.ownerId ?? null,
    ],
  );

export type Profile = Pick<UserRow, 'display_name' | 'status_text' | 'time_zone' | 'avatar'>;

export async function updateProfile(tx: Tx, { user_id, name }: UserRow, profile: Profile): Promise<void> {
  const { display_name, status_text, time_zone, avatar } = profile;
  await tx.run(
    `UPDATE users SET display_name = $2, search_key = $3, status_text = $4, time_zone = $5, avatar = $6
     WHERE user_id = $1`,
    [user_id, display_name, fold(`${name} ${display_name}`), status_text, time_zone, avatar],
  );
}

/** Returns how many of the users are people. */
export const countPeople = (db: Db, userIds: readonly UserId[]): Promise<number> =>
  number(
    db,
    `SELECT count(*) AS people FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id AND u.kind = 'person'`,
    [JSON.stringify(userIds.map((user_id) => ({ user_id })))],
  );

/** Returns a page of users and bots that are not disabled, by id. */
export const activeUsers = (db: Db, after: number): Promise<UserRow[]> =>
  users.all(db, `SELECT ${columns} FROM users WHERE user_id > $1 AND disabled_at IS NULL ORDER BY user_id LIMIT 500`, [
    after,
  ]);

/** Returns the administrators who are not disabled. */
export const listAdmins = (db: Db): Promise<UserRow[]> =>
  users.all(db, `SELECT ${columns} FROM users WHERE is_admin = 1 AND disabled_at IS NULL`);

export async function disableUser(tx: Tx, userId: UserId, at: number): Promise<void> {
  await tx.run('UPDATE users SET disabled_at = $2 WHERE user_id = $1 AND disabled_at IS NULL', [userId, at]);
}

export async function enableUser(tx: Tx, userId: UserId): Promise<void> {
  await tx.run('UPDATE users SET disabled_at = NULL WHERE user_id = $1', [userId]);
}

export async function setAdmin(tx: Tx, userId: UserId, isAdmin: boolean): Promise<void> {
  await tx.run('UPDATE users SET is_admin = $2 WHERE user_id = $1', [userId, isAdmin ? 1 : 0]);
}

export const countAdmins = (db: Db): Promise<number> =>
  number(db, 'SELECT count(*) AS admins FROM users WHERE is_admin = 1 AND disabled_at IS NULL');
