import { TransportError } from '@parley/sdk';
import { type Answer, type Asked, exchange } from './exchange.ts';
import { type AuthorizationServer, discover } from './metadata.ts';

/** The app that the command line is, in every database. */
export const clientId = 'parley-cli';

export interface Tokens {
  readonly accessToken: string;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

/** What is as it was where the server does not say otherwise. */
type Before = Pick<Tokens, 'scopes'> & Partial<Tokens>;

export async function redeemCode(
  asked: Asked,
  { tokenEndpoint }: AuthorizationServer,
  code: { readonly code: string; readonly redirect: string; readonly verifier: string },
  scopes: readonly string[],
): Promise<Tokens> {
  const form = {
    grant_type: 'authorization_code',
    code: code.code,
    redirect_uri: code.redirect,
    code_verifier: code.verifier,
    client_id: clientId,
  };
  return readTokens(asked.server, await exchange(asked, tokenEndpoint, form), { scopes });
}

export async function refresh(
  asked: Asked,
  { tokenEndpoint }: AuthorizationServer,
  before: Before & { refreshToken: string },
): Promise<Tokens> {
  const form = { grant_type: 'refresh_token', refresh_token: before.refreshToken, client_id: clientId };
  return readTokens(asked.server, await exchange(asked, tokenEndpoint, form), before);
}

/** Ends what was authorized (RFC 7009). */
export async function revoke(asked: Asked, refreshToken: string): Promise<void> {
  const { revocationEndpoint } = await discover(asked);
  const form = { token: refreshToken, token_type_hint: 'refresh_token', client_id: clientId };
  const answer = await exchange(asked, revocationEndpoint, form);
  if (answer.status !== 200) throw foreign(asked.server, answer);
}

function readTokens(server: string, answer: Answer, before: Before): Tokens {
  const { access_token, token_type, expires_in, refresh_token = before.refreshToken, scope } = answer.body ?? {};
  if (
    answer.status !== 200 ||
    typeof access_token !== 'string' ||
    typeof token_type !== 'string' ||
    token_type.toLowerCase() !== 'bearer' ||
    typeof expires_in !== 'number' ||
    typeof refresh_token !== 'string'
  ) {
    throw foreign(server, answer);
  }
  return {
    accessToken: access_token,
    expiresAt: Math.floor(Date.now() + expires_in * 1_000),
    refreshToken: refresh_token,
    scopes: typeof scope === 'string' ? scope.split(' ').filter(Boolean) : before.scopes,
  };
}

const foreign = (server: string, { status }: Answer) =>
  new TransportError(`What ${server} answered is not as OAuth has it: HTTP ${status}.`, { status });
