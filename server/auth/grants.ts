import type { UserId } from '@parley/contract';
import { revokeGrants } from '../store/access/grants.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import type { AuditAct } from './acts.ts';
import { type Actor, type AuditDetails, record } from './audit.ts';
import type { AccessServices } from './services.ts';

export interface GrantEnd {
  readonly userId: UserId;
  readonly which: { readonly grantId: number } | { readonly userId: UserId; readonly appId: number };
  readonly actor: Actor;
  readonly act: AuditAct;
  readonly details: AuditDetails;
}

/** Ends grants of a user with their tokens and webhooks. Returns false if there was none. */
export async function endGrants(services: AccessServices, end: GrantEnd): Promise<boolean> {
  const ended = await services.engine.write(async (tx) => {
    const at = services.now();
    await lockTokensOf(tx, end.userId);
    const count = await revokeGrants(tx, end.which, at);
    if (count > 0) {
      await endWithoutAccess(tx, at, end.userId);
      await record(tx, at, end.actor, end.act, end.details);
    }
    return count > 0;
  });
  await services.ended(end.userId);
  return ended;
}
