import type { Client, Token } from '@parley-chat/sdk';
import { docsText } from '../../text/docs/text.ts';
import type { Operation } from './api-document.ts';
import { type ApiCall, pathOf } from './request-snippets.ts';

/** What came back. */
export interface Tried {
  readonly status: number;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON is written over several lines. */
  readonly body: string;
  readonly isRevoked: boolean;
}

const tokenSeconds = 300;

/** The headers that say something about the call. */
const shownHeaders = [
  ...['content-type', 'x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
  ...['retry-after', 'www-authenticate', 'idempotency-replayed', 'etag'],
] as const;

/** An operation without scopes takes any token. This scope can do the least. */
const leastScope = 'chats:read';

type Scope = Token['scopes'][number];

/**
 * Calls an operation with a token of its own, which can do nothing else, and revokes the token. Throws the error of the token if
 * there is none. Aborting the call revokes the token too.
 */
export async function tryCall(
  client: Client,
  userId: number,
  { name, scopes }: Pick<Operation, 'name' | 'scopes'>,
  call: ApiCall,
  signal: AbortSignal,
): Promise<Tried> {
  const { token, access_token } = await client.tokens.create({
    name: docsText.tryIt.tokenName(name),
    scopes: (scopes.length > 0 ? scopes : [leastScope]) as Scope[],
    expires_in: tokenSeconds,
  });
  // The page may go before the response comes. Then nobody waits for this one.
  const leave = () =>
    void fetch('/api/tokens/revoke', {
      method: 'POST',
      keepalive: true,
      headers: { 'content-type': 'application/json', 'parley-user': `${userId}` },
      body: JSON.stringify({ token_id: token.token_id }),
    });
  addEventListener('pagehide', leave);
  const revoke = () =>
    client.tokens.revoke({ token_id: token.token_id }).then(
      () => true,
      () => false,
    );
  try {
    const tried = await send(call, access_token, signal);
    return { ...tried, isRevoked: await revoke() };
  } catch (error) {
    await revoke();
    throw error;
  } finally {
    removeEventListener('pagehide', leave);
  }
}

async function send(call: ApiCall, token: string, signal: AbortSignal): Promise<Omit<Tried, 'isRevoked'>> {
  const began = performance.now();
  const response = await fetch(pathOf(call), {
    method: call.method,
    // The token alone must do, not the session of this browser.
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      authorization: `Bearer ${token}`,
      ...(call.method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(call.method === 'POST' && { body: JSON.stringify(call.input) }),
    signal,
  });
  const bytes = await response.arrayBuffer();
  const ms = Math.round(performance.now() - began);
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    ms,
    headers: shownHeaders.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    }),
    body: type.startsWith('application/json')
      ? JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2)
      : docsText.tryIt.bytes({ bytes: bytes.byteLength, type }),
  };
}
