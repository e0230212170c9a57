import { ParleyError, type Scope } from '@parley/contract';
import { parseScopes, usableBy } from '../auth/access-token.ts';
import { record } from '../auth/audit.ts';
import type { Caller } from '../auth/caller.ts';
import { makeToken, requireRoomForToken } from '../auth/personal-token.ts';
import { findToken, listTokens, lockTokensOf, revokeToken } from '../store/access/tokens.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { actorOf, change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

/** An app has what it was granted: it neither sees nor makes tokens that would outlive that. */
function requirePerson({ kind }: Caller): void {
  if (kind === 'oauth') throw new ParleyError('forbidden', 'An app can neither see nor change personal access tokens.');
}

export function listOfTokens({ engine, now }: Services): Handler<'tokens.list'> {
  return async ({ caller }) => {
    requirePerson(caller);
    return { tokens: (await listTokens(engine, caller.userId, now())).map(present.token) };
  };
}

export function createToken(services: Services): Handler<'tokens.create'> {
  return async (call) => {
    const { caller, input } = call;
    requirePerson(caller);
    // In a browser it is the user in person who asks: a token made there outlives the session, but only with rights that
    // the user has.
    const inPerson = caller.kind === 'session';
    return change(services, call, async (tx, at) => {
      const scopes = input.scopes ?? own(caller);
      requireWithin(own(caller), scopes, 'An access token can give only scopes that it has itself.');
      await lockTokensOf(tx, caller.userId);
      if (!(await findToken(tx, caller.userId, caller.tokenId))) {
        throw new ParleyError('unauthorized', 'This access token has just been revoked.');
      }
      await requireRoomForToken(tx, caller.userId, 'You have', at);
      const asked = input.expires_in === undefined ? null : at + input.expires_in * 1_000;
      const { token, accessToken } = await makeToken(tx, services.random, actorOf(call), {
        userId: caller.userId,
        ...(inPerson
          ? { expiresAt: asked }
          : { parentId: caller.tokenId, expiresAt: earlier(caller.expiresAt, asked) }),
        name: input.name,
        scopes,
        at,
      });
      return { token: present.token(token), access_token: accessToken };
    });
  };
}

/** The scopes that work. */
const own = (caller: Caller): ReadonlySet<Scope> => new Set(usableBy(caller, caller.scopes));

export function revokeOneToken(services: Services): Handler<'tokens.revoke'> {
  return async (call) => {
    const { caller, input } = call;
    requirePerson(caller);
    const answer = await change(services, call, async (tx, at) => {
      const token = await findToken(tx, caller.userId, input.token_id);
      if (token?.kind !== 'personal') throw new ParleyError('not_found', 'You have no such access token.');
      requireWithin(caller.scopes, parseScopes(token.scopes), 'That access token can do more than the one you use.');
      await revokeToken(tx, token, at);
      await endWithoutAccess(tx, at, caller.userId);
      await record(tx, at, actorOf(call), 'token_revoked', {
        token_id: token.token_id,
        name: token.name,
        user_id: caller.userId,
      });
      return { token: present.token(token) };
    });
    await services.ended(caller.userId);
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
