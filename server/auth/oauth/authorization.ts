import type OAuth2Server from '@node-oauth/oauth2-server';
import type { Scope, TokenId, UserId } from '@parley/contract';
import { lockApp } from '../../store/access/apps.ts';
import { insertCode } from '../../store/access/codes.ts';
import { insertGrant } from '../../store/access/grants.ts';
import { findToken, lockTokensOf } from '../../store/access/tokens.ts';
import { findUser } from '../../store/access/users.ts';
import { formatScopes, hashToken, newSecret, usableBy } from '../access-token.ts';
import { record } from '../audit.ts';
import type { AccessServices } from '../services.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { findClient, isConfidential } from './client.ts';
import { OAuthFault } from './faults.ts';
import { asFault, asLibraryClient, libraryRequest, loadLibrary, type Model } from './library.ts';
import { codeMs } from './lifetimes.ts';
import { allowsRedirect } from './redirects.ts';

/** The user who decides. */
export interface Decider {
  readonly userId: UserId;
  readonly isAdmin: boolean;
  /** The session of the decision. It must still be valid when the code is created. */
  readonly tokenId?: TokenId;
  readonly address: string;
}

/** Creates a code. Returns the URL that takes it, or an error, to the app. */
export async function authorize(
  services: AccessServices,
  request: AuthorizationRequest,
  user: Decider,
): Promise<string> {
  const model = authorizationModel(services, request, user);
  const { client, namedRedirect, scopes, challenge } = request;
  const library = await loadLibrary();
  try {
    const { authorizationCode } = await new library({ model }).authorize(
      libraryRequest(library, {
        client_id: client.clientId,
        response_type: 'code',
        ...(namedRedirect !== '' && { redirect_uri: namedRedirect }),
        scope: scopes.join(' '),
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
      new library.Response(),
      { authenticateHandler: { handle: () => user }, allowEmptyState: true },
    );
    return request.urlFor({ code: authorizationCode });
  } catch (thrown) {
    const { error, description } = asFault(library, thrown);
    return request.urlFor({ error, error_description: description });
  }
}

function authorizationModel(services: AccessServices, request: AuthorizationRequest, user: Decider): Model {
  const { client } = request;
  const model: Model & Partial<OAuth2Server.AuthorizationCodeModel> = {
    getClient: async () => asLibraryClient(client),
    validateRedirectUri: async (asked) => allowsRedirect(client.redirects, !isConfidential(client), asked),
    validateScope: async (_user, _client, asked = []) => {
      const scopes = usableBy(user, asked);
      if (scopes.length > 0) return scopes;
      throw new OAuthFault('access_denied', 'The scope admin is for administrators alone.');
    },
    generateAuthorizationCode: async () => newSecret('code', services.random),
    saveAuthorizationCode: async (code, libraryClient) => {
      await saveCode(services, request, user, code.authorizationCode, code.scope as Scope[]);
      return { ...code, client: libraryClient, user };
    },
    // The library calls these only for other requests.
    getAccessToken: async () => undefined,
    saveToken: async () => undefined,
  };
  return model;
}

/** The grant starts with its code. It expires with the code unless the app exchanges it. */
function saveCode(
  services: AccessServices,
  { client, namedRedirect, challenge }: AuthorizationRequest,
  { userId, tokenId, address }: Decider,
  secret: string,
  scopes: readonly Scope[],
): Promise<void> {
  return services.engine.write(async (tx) => {
    await lockApp(tx, client.appId);
    if (!(await findClient(tx, client.clientId))) throw new OAuthFault('access_denied', 'The app is no longer in use.');
    await lockTokensOf(tx, userId);
    const user = await findUser(tx, userId);
    if (user?.disabled_at !== null) throw new OAuthFault('access_denied', 'The user is disabled.');
    if (tokenId !== undefined && !(await findToken(tx, userId, tokenId))) {
      throw new OAuthFault('access_denied', 'The user has been signed out.');
    }
    const at = services.now();
    const expiresAt = at + codeMs;
    const { appId, name } = client;
    const { grant_id } = await insertGrant(tx, {
      user_id: userId,
      app_id: appId,
      scopes: formatScopes(scopes),
      created_at: at,
      expires_at: expiresAt,
    });
    await insertCode(tx, {
      hash: hashToken(secret),
      grant_id,
      redirect: namedRedirect,
      challenge,
      expires_at: expiresAt,
    });
    await record(tx, at, { userId, appId: 0, address }, 'access_granted', { app_id: appId, name, scopes });
  });
}
