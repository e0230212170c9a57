import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { number } from '../engine/query.ts';

/** The use of a person and their bots together. */
export interface OwnerUse {
  /** Chats that they have created. */
  readonly chats: number;
  readonly file_bytes: number;
  /** Days since 1970, in UTC. */
  readonly message_day: number;
  /** Messages that they have sent and edited on that day. */
  readonly messages: number;
}

export const findUse = (db: Db, ownerId: UserId): Promise<OwnerUse | undefined> =>
  db.get('SELECT chats, file_bytes, message_day, messages FROM owner_use WHERE owner_id = $1', [ownerId]);

/** The columns that `listUse` sorts by. */
export type UseColumn = 'file_bytes' | 'messages' | 'chats' | 'webhooks' | 'bots';

/** The use of a person and their bots. `messages` are those of today, and `bots` those that are not disabled. */
export type PersonUse = Readonly<Record<UseColumn, number>> & {
  readonly user_id: UserId;
  readonly name: string;
  readonly disabled_at: number | null;
};

interface UsePage {
  /** Days since 1970, in UTC. */
  readonly today: number;
  readonly by: UseColumn;
  readonly limit: number;
  /** The last person of the page before. */
  readonly after?: { readonly use: number; readonly userId: number } | undefined;
}

/** Returns people, those with the largest use first. Reads the use of all people. */
export const listUse = (db: Db, { today, by, limit, after }: UsePage): Promise<PersonUse[]> =>
  db.all(
    `SELECT * FROM (
       SELECT u.user_id, u.name, u.disabled_at, COALESCE(o.file_bytes, 0) AS file_bytes, COALESCE(o.chats, 0) AS chats,
         CASE WHEN o.message_day = $1 THEN o.messages ELSE 0 END AS messages,
         COALESCE(w.webhooks, 0) AS webhooks, COALESCE(b.bots, 0) AS bots
       FROM users u LEFT JOIN owner_use o ON o.owner_id = u.user_id
       LEFT JOIN (
         SELECT COALESCE(x.owner_id, x.user_id) AS owner_id, count(*) AS webhooks
         FROM webhooks JOIN users x ON x.user_id = webhooks.user_id
         WHERE webhooks.deleted_at IS NULL GROUP BY COALESCE(x.owner_id, x.user_id)
       ) w ON w.owner_id = u.user_id
       LEFT JOIN (
         SELECT owner_id, count(*) AS bots FROM users WHERE owner_id IS NOT NULL AND disabled_at IS NULL GROUP BY owner_id
       ) b ON b.owner_id = u.user_id
       WHERE u.kind = 'person'
     ) AS used WHERE ${by} < $3 OR (${by} = $3 AND user_id > $4) ORDER BY ${by} DESC, user_id LIMIT $2`,
    [today, limit, after?.use ?? Number.MAX_SAFE_INTEGER, after?.userId ?? 0],
  );

/** Returns the bytes of all files. */
export const sumFileBytes = (db: Db): Promise<number> =>
  number(db, 'SELECT CAST(sum(file_bytes) AS bigint) AS bytes FROM owner_use');

/** Counts a new chat. Returns how many the owner has created. Other chats of the owner wait for the end of the transaction. */
export const addChat = (tx: Tx, ownerId: UserId): Promise<number> =>
  number(
    tx,
    `INSERT INTO owner_use (owner_id, chats) VALUES ($1, 1)
     ON CONFLICT (owner_id) DO UPDATE SET chats = owner_use.chats + 1 RETURNING chats`,
    [ownerId],
  );

/** Adds bytes to the files of the user's owner, and returns their sum. Negative bytes are those of a deleted file. */
export const addFileBytes = (tx: Tx, userId: UserId, bytes: number): Promise<number> =>
  number(
    tx,
    `INSERT INTO owner_use (owner_id, file_bytes)
     SELECT COALESCE(u.owner_id, u.user_id), CAST($2 AS bigint) FROM users u WHERE u.user_id = $1
     ON CONFLICT (owner_id) DO UPDATE SET file_bytes = owner_use.file_bytes + excluded.file_bytes RETURNING file_bytes`,
    [userId, bytes],
  );

export interface MessageCount {
  readonly owner_id: UserId;
  readonly messages: number;
}

/** Adds messages of a day. Returns the sums of these owners, over all servers. */
export const addMessages = (tx: Tx, day: number, counts: readonly MessageCount[]): Promise<MessageCount[]> =>
  // Sorted, because servers that lock rows in another order could deadlock.
  tx.all(
    `INSERT INTO owner_use (owner_id, messages, message_day)
     SELECT c.owner_id, c.messages, CAST($2 AS bigint)
     FROM ${tx.dialect.rows('$1', { owner_id: 'int', messages: 'int' }, 'c')} WHERE c.messages > 0 ORDER BY c.owner_id
     ON CONFLICT (owner_id) DO UPDATE SET message_day = excluded.message_day, messages = excluded.messages +
       CASE WHEN owner_use.message_day = excluded.message_day THEN owner_use.messages ELSE 0 END
     RETURNING owner_id, messages`,
    [JSON.stringify(counts), day],
  );

/** Counts chats and files again, in a database that was restored. */
export async function recountUse(tx: Tx): Promise<void> {
  await tx.run('DELETE FROM owner_use');
  await tx.run(
    `INSERT INTO owner_use (owner_id, chats, file_bytes)
     SELECT owner_id, CAST(sum(chats) AS bigint), CAST(sum(file_bytes) AS bigint) FROM (
       SELECT COALESCE(u.owner_id, u.user_id) AS owner_id, 1 AS chats, 0 AS file_bytes
       FROM chats c JOIN users u ON u.user_id = c.created_by
       UNION ALL
       SELECT COALESCE(u.owner_id, u.user_id), 0, f.size FROM files f JOIN users u ON u.user_id = f.user_id
       WHERE f.size IS NOT NULL
     ) AS used GROUP BY owner_id`,
  );
}
