import type { UserId } from '@parley/contract';
import { type AppRow, findAppByClientId } from '../../store/apps.ts';
import type { Db } from '../../store/engine.ts';

/** An app, as OAuth sees it. */
export interface Client {
  readonly appId: number;
  readonly clientId: string;
  readonly name: string;
  /** Null: Parley's own. */
  readonly ownerId: UserId | null;
  /** Where it may be sent back to. */
  readonly redirects: readonly string[];
  /** Null: it can keep no secret. */
  readonly secretHash: string | null;
  /** Whom it acts as where nobody has authorized it. */
  readonly botId: UserId | null;
}

/** An app that may be used: one that is deleted, or whose owner is disabled, is as unknown as one that never was. */
export async function findClient(db: Db, clientId: string): Promise<Client | undefined> {
  // Not everything that can be sent can be asked of a database.
  const row = /^[\x21-\x7e]{1,100}$/.test(clientId) ? await findAppByClientId(db, clientId) : undefined;
  return row && asClient(row);
}

const asClient = (row: AppRow): Client => ({
  appId: row.app_id,
  clientId: row.client_id,
  name: row.name,
  ownerId: row.owner_id,
  redirects: JSON.parse(row.redirects) as string[],
  secretHash: row.secret_hash,
  botId: row.bot_id,
});

export const isConfidential = ({ secretHash }: Client): boolean => secretHash !== null;
