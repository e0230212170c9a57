import { ParleyError, type Scope } from '@parley/contract';
import { formatScopes, hashToken, newPersonalToken, parseScopes } from '../auth/access-token.ts';
import { findToken, insertToken, listTokens, lockTokensOf, revokeToken } from '../store/tokens.ts';
import { endWithoutAccess } from '../store/webhook-ends.ts';
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

export function listOfTokens({ engine, now }: Services): Handler<'tokens.list'> {
  return async ({ caller }) => ({ tokens: (await listTokens(engine, caller.userId, now())).map(present.token) });
}

/** Access tokens of one user: each has a rate limit of its own. */
const mostTokens = 100;

export function createToken(services: Services): Handler<'tokens.create'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const scopes = input.scopes ?? caller.scopes;
      requireWithin(caller.scopes, scopes, 'An access token can give only scopes that it has itself.');
      await lockTokensOf(tx, caller.userId);
      if (!(await findToken(tx, caller.userId, caller.tokenId))) {
        throw new ParleyError('unauthorized', 'This access token has just been revoked.');
      }
      if ((await listTokens(tx, caller.userId, at)).length >= mostTokens) {
        throw new ParleyError('conflict', `You have ${mostTokens} access tokens. Revoke one first.`);
      }
      const token = newPersonalToken(services.random);
      const row = await insertToken(tx, {
        userId: caller.userId,
        parentId: caller.tokenId,
        appId: 0,
        name: input.name,
        hash: hashToken(token),
        scopes: formatScopes(scopes),
        at,
        expiresAt: earlier(caller.expiresAt, input.expires_in === undefined ? null : at + input.expires_in * 1_000),
      });
      return { token: present.token(row), access_token: token };
    });
}

export function revokeOneToken(services: Services): Handler<'tokens.revoke'> {
  return async (call) => {
    const { caller, input } = call;
    const answer = await change(services, call, async (tx, at) => {
      const token = await findToken(tx, caller.userId, input.token_id);
      if (!token) throw new ParleyError('not_found', 'You have no such access token.');
      requireWithin(caller.scopes, parseScopes(token.scopes), 'That access token can do more than the one you use.');
      await revokeToken(tx, token, at);
      await endWithoutAccess(tx, at, caller.userId);
      return { token: present.token(token) };
    });
    services.forget({ userId: caller.userId });
    await services.webhooks.nudge();
    return answer;
  };
}

/** A token lives no longer than the one that made it. */
const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

function requireWithin(own: ReadonlySet<Scope>, asked: Iterable<Scope>, otherwise: string): void {
  const missing = [...asked].filter((s) => !own.has(s));
  if (missing.length > 0) throw new ParleyError('insufficient_scope', `${otherwise} Missing: ${missing.join(', ')}.`);
}
