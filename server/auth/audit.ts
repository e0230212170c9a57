import type { UserId } from '@parley/contract';
import { insertAudit } from '../store/access/audit.ts';
import type { Tx } from '../store/engine/engine.ts';
import type { AuditAct } from './acts.ts';

/** Who does something, and from where. */
export interface Actor {
  /** Null: somebody unknown, or the operator at the command line. */
  readonly userId: UserId | null;
  /** 0: none. */
  readonly appId: number;
  /** Null: at the command line. */
  readonly address: string | null;
}

export type UserActor = Actor & { readonly userId: UserId };

export const operator: Actor = { userId: null, appId: 0, address: null };

/** What is told of an act beside who did it. Never a secret, a token or a text of a message. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** Writes an act down, in the transaction of the act itself. */
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
