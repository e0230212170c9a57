import type OAuth2Server from '@node-oauth/oauth2-server';
import { inOrder } from '../access-token.ts';
import { endGrants } from '../grants.ts';
import type { AccessServices } from '../services.ts';
import { authenticateClient } from './client-authentication.ts';
import { clientCredentials } from './client-credentials.ts';
import { codeExchange } from './code-exchange.ts';
import { deviceExchange } from './device-exchange.ts';
import { type Exchange, Replay } from './exchange.ts';
import { OAuthFault, quoted } from './faults.ts';
import {
  asFault,
  deviceCodeType,
  type GrantType,
  grantTypes,
  type Library,
  type LibraryType,
  libraryRequest,
  loadLibrary,
  type Model,
} from './library.ts';
import { accessTokenMs } from './lifetimes.ts';
import type { Parameters } from './parameters.ts';
import { refresh } from './refresh.ts';

/** A parsed request of an app. */
export interface AppCall {
  readonly form: Parameters;
  readonly authorization: string | null;
  readonly address: string;
}

const exchanges: Readonly<Record<LibraryType, (exchange: Exchange) => Model>> = {
  authorization_code: codeExchange,
  refresh_token: refresh,
  client_credentials: clientCredentials,
};

export async function issueTokens(services: AccessServices, call: AppCall): Promise<object> {
  const { form, address } = call;
  const client = await authenticateClient(services.engine, form, call.authorization);
  const type = grantTypeIn(form);
  const library = await loadLibrary();
  const outcome = await services.engine.write(async (tx) => {
    const { random } = services;
    return exchange(library, type, { tx, at: services.now(), random, client, form, address });
  });
  if (outcome instanceof Replay) await endGrants(services, outcome.end);
  if (outcome instanceof OAuthFault) throw outcome;
  const { accessToken, refreshToken, scope = [] } = outcome;
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: accessTokenMs / 1_000,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    scope: inOrder(scope).join(' '),
  };
}

function grantTypeIn(form: Parameters): GrantType {
  const asked = form.get('grant_type');
  if (asked === undefined) throw new OAuthFault('invalid_request', 'grant_type is missing.');
  const type = grantTypes.find((known) => known === asked);
  if (type) return type;
  throw new OAuthFault(
    'unsupported_grant_type',
    `grant_type must be one of ${grantTypes.join(', ')}, not ${quoted(asked)}.`,
  );
}

/** The parameters that the library gets. The app is authenticated already, so its secret is not among them. */
const passedOn = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'] as const;

/** Returns an `OAuthFault` instead of throwing it, so that consumed codes stay consumed. Any other error rolls back. */
async function exchange(library: Library, type: GrantType, parts: Exchange): Promise<OAuth2Server.Token | OAuthFault> {
  try {
    return await (type === deviceCodeType ? deviceExchange(parts) : libraryExchange(library, type, parts));
  } catch (thrown) {
    return asFault(library, thrown);
  }
}

function libraryExchange(library: Library, type: LibraryType, parts: Exchange): Promise<OAuth2Server.Token> {
  const { client, form } = parts;
  const given = passedOn.flatMap((name) => (form.has(name) ? [[name, form.get(name) ?? '']] : []));
  const body = { client_id: client.clientId, ...Object.fromEntries(given) };
  const server = new library({
    model: exchanges[type](parts),
    requireClientAuthentication: Object.fromEntries(grantTypes.map((name) => [name, false])),
  });
  return server.token(libraryRequest(library, body), new library.Response());
}
