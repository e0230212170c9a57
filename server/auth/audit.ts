import type { UserId } from '@parley/contract';
import { insertAudit } from '../store/access/audit.ts';
import { type Throttle, takeAttempt } from '../store/access/throttles.ts';
import { findUser } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import type { AuditAct } from './acts.ts';

export interface Actor {
  /** Null for an unknown user, and for the operator at the command line. */
  readonly userId: UserId | null;
  /** 0 if no app is involved. */
  readonly appId: number;
  /** The client's IP. Null at the command line. */
  readonly address: string | null;
}

export type UserActor = Actor & { readonly userId: UserId };

export const operator: Actor = { userId: null, appId: 0, address: null };

/** They never hold a secret, a token or the text of a message. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** A person and their bots get so many entries of each act in a row, then so many an hour. */
export const entriesPerHour = 100;

const hourMs = 3_600_000;
const entryLimit: Throttle = { burst: entriesPerHour, everyMs: hourMs / entriesPerHour };
const oncePerHour: Throttle = { burst: 1, everyMs: hourMs };

/** Acts of strangers at an account. They have limits of their own, and must not use up those of the person. */
const unlimited: ReadonlySet<AuditAct> = new Set(['sign_in_failed', 'sign_in_throttled']);

/**
 * Adds an act to the audit log, in the transaction of the act itself. Above the limit of a person, one entry says that more
 * are left out. Acts of administrators and of the operator are never left out.
 */
export async function record(
  tx: Tx,
  at: number,
  actor: Actor,
  act: AuditAct,
  details: AuditDetails = {},
): Promise<void> {
  const person = unlimited.has(act) ? undefined : await limitedPerson(tx, actor);
  // Each act counts by itself, so that many of one kind cannot hide another.
  const key = `${person} ${act}`;
  if (person === undefined || (await takeAttempt(tx, `audit of ${key}`, entryLimit, at)) === 0) {
    await insert(tx, at, actor, act, details);
  } else if ((await takeAttempt(tx, `audit without ${key}`, oncePerHour, at)) === 0) {
    await insert(tx, at, actor, 'acts_left_out', { event: act });
  }
}

/** Returns the person whose limit counts, or undefined if none does. */
async function limitedPerson(tx: Tx, { userId }: Actor): Promise<UserId | undefined> {
  const user = userId === null ? undefined : await findUser(tx, userId);
  return user && !user.is_admin ? (user.owner_id ?? user.user_id) : undefined;
}

const insert = (tx: Tx, at: number, actor: Actor, act: AuditAct, details: AuditDetails): Promise<void> =>
  insertAudit(tx, {
    at,
    act,
    user_id: actor.userId,
    app_id: actor.appId,
    address: actor.address,
    details: JSON.stringify(details),
  });
