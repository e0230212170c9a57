import type { Db, Tx } from '../engine/engine.ts';
import { changes, insertRow, number } from '../engine/query.ts';

/** A request of a device without a browser (RFC 8628). Only the hashes of its two codes are stored. */
export interface DeviceCodeRow {
  readonly hash: string;
  readonly user_code_hash: string;
  readonly app_id: number;
  readonly scopes: string;
  readonly interval_ms: number;
  readonly polled_at: number | null;
  readonly expires_at: number;
  readonly denied_at: number | null;
  /** Null until a person allows it. */
  readonly grant_id: number | null;
  readonly used_at: number | null;
}

const newColumns = ['hash', 'user_code_hash', 'app_id', 'scopes', 'interval_ms', 'expires_at'] as const;
const columns = [...newColumns, 'polled_at', 'denied_at', 'grant_id', 'used_at'].map((name) => `d.${name}`).join(', ');

export async function insertDeviceCode(tx: Tx, code: Pick<DeviceCodeRow, (typeof newColumns)[number]>): Promise<void> {
  await insertRow(tx, 'device_codes', newColumns, code);
}

export const countDeviceCodes = (db: Db, now: number): Promise<number> =>
  number(db, 'SELECT count(*) AS codes FROM device_codes WHERE expires_at > $1', [now]);

/** Also finds an expired, denied or used one, so that the device is told which. */
export const findDeviceCode = (db: Db, hash: string): Promise<DeviceCodeRow | undefined> =>
  db.get(`SELECT ${columns} FROM device_codes d WHERE d.hash = $1`, [hash]);

const undecided = 'user_code_hash = $1 AND expires_at > $2 AND grant_id IS NULL AND denied_at IS NULL';

/** Finds the request that waits for a decision, and the client id of its app. */
export const findUndecidedDevice = (
  db: Db,
  userCodeHash: string,
  now: number,
): Promise<(DeviceCodeRow & { readonly client_id: string }) | undefined> =>
  db.get(`SELECT ${columns}, a.client_id FROM device_codes d JOIN apps a ON a.app_id = d.app_id WHERE ${undecided}`, [
    userCodeHash,
    now,
  ]);

/** Returns true for exactly one of any number of concurrent decisions. */
export const allowDevice = (tx: Tx, userCodeHash: string, now: number, grantId: number): Promise<boolean> =>
  changes(tx, `UPDATE device_codes SET grant_id = $3 WHERE ${undecided}`, [userCodeHash, now, grantId]);

/** Returns true for exactly one of any number of concurrent decisions. */
export const denyDevice = (tx: Tx, userCodeHash: string, now: number): Promise<boolean> =>
  changes(tx, `UPDATE device_codes SET denied_at = $2 WHERE ${undecided}`, [userCodeHash, now]);

export async function notePoll(tx: Tx, hash: string, now: number, intervalMs: number): Promise<void> {
  await tx.run('UPDATE device_codes SET polled_at = $2, interval_ms = $3 WHERE hash = $1', [hash, now, intervalMs]);
}
