import type { UserId } from '@parley/contract';
import { insertAudit } from '../store/access/audit.ts';
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

/** Adds an act to the audit log, in the transaction of the act itself. */
export function record(tx: Tx, at: number, actor: Actor, act: AuditAct, details: AuditDetails = {}): Promise<void> {
  return insertAudit(tx, {
    at,
    act,
    user_id: actor.userId,
    app_id: actor.appId,
    address: actor.address,
    details: JSON.stringify(details),
  });
}
