import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { changes, insertRow } from '../engine/query.ts';

export type LinkKind = 'setup' | 'invitation' | 'password';

/** A link that works once. Only the hash of its secret is stored. */
export interface LinkRow {
  readonly link_id: number;
  readonly kind: LinkKind;
  readonly note: string;
  /** The user whose password it sets. */
  readonly user_id: UserId | null;
  readonly created_by: UserId | null;
  readonly created_at: number;
  readonly expires_at: number;
}

const newColumns = ['kind', 'note', 'user_id', 'created_by', 'created_at', 'expires_at'] as const;
const columns = ['link_id', ...newColumns].join(', ');

export type NewLink = Omit<LinkRow, 'link_id'> & { readonly hash: string };

export const insertLink = (tx: Tx, link: NewLink): Promise<LinkRow> =>
  insertRow(tx, 'links', [...newColumns, 'hash'], link, columns);

const valid = 'kind = $1 AND hash = $2 AND (expires_at IS NULL OR expires_at > $3)';

export const findLink = (db: Db, kind: LinkKind, hash: string, now: number): Promise<LinkRow | undefined> =>
  db.get(`SELECT ${columns} FROM links WHERE ${valid}`, [kind, hash, now]);

/** Deletes the link and returns it, to exactly one of any number of concurrent callers. */
export const takeLink = (tx: Tx, kind: LinkKind, hash: string, now: number): Promise<LinkRow | undefined> =>
  tx.get(`DELETE FROM links WHERE ${valid} RETURNING ${columns}`, [kind, hash, now]);

/** Returns the links that are not expired, newest first. */
export const listLinks = (db: Db, kind: LinkKind, now: number): Promise<LinkRow[]> =>
  db.all(
    `SELECT ${columns} FROM links WHERE kind = $1 AND (expires_at IS NULL OR expires_at > $2)
     ORDER BY link_id DESC LIMIT 1000`,
    [kind, now],
  );

export const deleteLink = (tx: Tx, kind: LinkKind, linkId: number): Promise<boolean> =>
  changes(tx, 'DELETE FROM links WHERE kind = $1 AND link_id = $2', [kind, linkId]);

export async function deleteLinks(tx: Tx, kind: LinkKind, userId?: UserId): Promise<void> {
  if (userId === undefined) await tx.run('DELETE FROM links WHERE kind = $1', [kind]);
  else await tx.run('DELETE FROM links WHERE kind = $1 AND user_id = $2', [kind, userId]);
}

/** Deletes the links that a user created: they allow what only an administrator may do. */
export async function deleteLinksBy(tx: Tx, createdBy: UserId): Promise<void> {
  await tx.run('DELETE FROM links WHERE created_by = $1', [createdBy]);
}
