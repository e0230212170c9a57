import type { UserId } from '@parley/contract';
import { type AppRow, findAppByClientId } from '../../store/access/apps.ts';
import type { Db } from '../../store/engine/engine.ts';

/** An app as an OAuth client. */
export interface Client {
  readonly appId: number;
  readonly clientId: string;
  readonly name: string;
  /** Null for Parley's own apps. */
  readonly ownerId: UserId | null;
  /** True if it was registered with an access token, and its owner has not confirmed it. */
  readonly isByToken: boolean;
  /** Its redirect URLs. */
  readonly redirects: readonly string[];
  /** Null for a public client. */
  readonly secretHash: string | null;
  /** The user that it acts as with its own credentials. */
  readonly botId: UserId | null;
}

/** Returns an app, or undefined if it is unknown or deleted, or its owner is disabled. */
export async function findClient(db: Db, clientId: string): Promise<Client | undefined> {
  // PostgreSQL rejects some characters, such as NUL.
  const row = /^[\x21-\x7e]{1,100}$/.test(clientId) ? await findAppByClientId(db, clientId) : undefined;
  return row && asClient(row);
}

const asClient = (row: AppRow): Client => ({
  appId: row.app_id,
  clientId: row.client_id,
  name: row.name,
  ownerId: row.owner_id,
  isByToken: row.by_token,
  redirects: JSON.parse(row.redirects) as string[],
  secretHash: row.secret_hash,
  botId: row.bot_id,
});

export const isConfidential = ({ secretHash }: Client): boolean => secretHash !== null;
