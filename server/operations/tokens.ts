import { invalidField, ParleyError, type Scope } from '@parley/contract';
import { parseScopes, usableBy } from '../auth/access-token.ts';
import type { Caller } from '../auth/caller.ts';
import { makeToken, requireRoomForToken, withdraw } from '../auth/personal-token.ts';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { dayOf, listTokenUse, usageDays } from '../store/access/token-use.ts';
import { findToken, listTokens, lockTokensOf } from '../store/access/tokens.ts';
import { requireValidToken } from './access.ts';
import { actorOf, change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const tokenHandlers = (services: Services) =>
  ({
    'tokens.list': async ({ caller }) => {
      requirePerson(caller);
      return { tokens: (await listTokens(services.engine, caller.userId, services.now())).map(present.token) };
    },

    'tokens.usage': async ({ caller }) => {
      requirePerson(caller);
      const since = dayOf(services.now()) - usageDays;
      return { usage: (await listTokenUse(services.engine, caller.userId, since)).map(present.tokenUse) };
    },

    'tokens.create': change(services, async (tx, at, call) => {
      const { caller, input } = call;
      requirePerson(caller);
      const own = new Set(usableBy(caller, caller.scopes));
      const scopes = input.scopes ?? [...own].filter((scope) => scope !== 'admin');
      requireWithin(own, scopes, 'An access token can give only scopes that it has itself.');
      if (scopes.length === 0) throw invalidField('scopes', 'is required, because the token in use has only admin');
      if (scopes.includes('admin')) requireRecentPassword(caller, at, '/console/tokens');
      await lockTokensOf(tx, caller.userId);
      await requireValidToken(tx, caller);
      await requireRoomForToken(tx, caller.userId, 'You have', at);
      const requested = input.expires_in === undefined ? null : at + input.expires_in * 1_000;
      // A token that the user creates in a browser outlives the session. Any other ends with the token that created it.
      const end =
        caller.kind === 'session'
          ? { expiresAt: requested }
          : { parentId: caller.tokenId, expiresAt: earlier(caller.expiresAt, requested) };
      const request = { userId: caller.userId, ...end, name: input.name, scopes, at };
      const { token, accessToken } = await makeToken(tx, services.random, actorOf(call), request);
      return { token: present.token(token), access_token: accessToken };
    }),

    'tokens.revoke': async (call) => {
      const { caller, input } = call;
      requirePerson(caller);
      const revoke = change<'tokens.revoke'>(services, async (tx, at) => {
        const token = await findToken(tx, caller.userId, input.token_id);
        if (token?.kind !== 'personal') throw new ParleyError('not_found', 'You have no such access token.');
        requireWithin(caller.scopes, parseScopes(token.scopes), 'That access token can do more than the one you use.');
        await withdraw(tx, actorOf(call), token, at);
        return { token: present.token(token) };
      });
      const result = await revoke(call);
      await services.ended(caller.userId);
      return result;
    },
  }) satisfies Partial<Handlers>;

/** An app has only what it was granted. It neither sees nor creates tokens, which would outlive the grant. */
function requirePerson({ kind }: Caller): void {
  if (kind === 'oauth') throw new ParleyError('forbidden', 'An app can neither see nor change personal access tokens.');
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

function requireWithin(own: ReadonlySet<Scope>, requested: Iterable<Scope>, refusal: string): void {
  const missing = [...requested].filter((s) => !own.has(s));
  if (missing.length > 0) throw new ParleyError('insufficient_scope', `${refusal} Missing: ${missing.join(', ')}.`);
}
