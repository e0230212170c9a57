import type OAuth2Server from '@node-oauth/oauth2-server';
import type { Scope } from '@parley/contract';
import { insertCode } from '../../store/access/codes.ts';
import { hashToken, newSecret, usableBy } from '../access-token.ts';
import type { AccessServices } from '../services.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { isConfidential } from './client.ts';
import { type Decider, insertConsentedGrant } from './consented-grant.ts';
import { OAuthFault } from './faults.ts';
import { asFault, asLibraryClient, libraryRequest, loadLibrary, type Model } from './library.ts';
import { codeMs } from './lifetimes.ts';
import { allowsRedirect } from './redirects.ts';

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
  user: Decider,
  secret: string,
  scopes: readonly Scope[],
): Promise<void> {
  return services.engine.write(async (tx) => {
    const at = services.now();
    const expiresAt = at + codeMs;
    const { grant_id } = await insertConsentedGrant(tx, { client, user, scopes, at, expiresAt });
    await insertCode(tx, {
      hash: hashToken(secret),
      grant_id,
      redirect: namedRedirect,
      challenge,
      expires_at: expiresAt,
    });
  });
}
