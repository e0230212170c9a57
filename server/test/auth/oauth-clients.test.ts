import { beforeAll, expect, test } from 'bun:test';
import * as oauth4webapi from 'oauth4webapi';
import * as openid from 'openid-client';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { decide, newApp, withToken, works } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

const insecure = { [oauth4webapi.allowInsecureRequests]: true };
const scope = 'messages:read messages:write chats:write';

onAnyEngine('client libraries that others wrote', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  beforeAll(async () => {
    ada = await server().user('ada');
  });

  /** Allows the request of the library's URL, like a user in a browser. */
  const authorize = (url: URL) => decide(server(), url.searchParams, ada).then((location) => new URL(location));

  /** Sends a message with the token, and returns the content that ada reads. */
  async function sendAs(token: string, content: string): Promise<string> {
    const app = withToken(server(), token);
    const { group } = await app.ok('messages.create_group', { name: 'made by an app', participants: [] });
    const { message } = await app.ok('messages.send_message', { chat_id: group.chat_id, content });
    return (await ada.ok('messages.get_message', { message_id: message.message_id })).message.content;
  }

  const kinds: [string, (secret: string) => oauth4webapi.ClientAuth, boolean][] = [
    ['an app without a secret', () => oauth4webapi.None(), false],
    ['an app with its secret in the header', (secret) => oauth4webapi.ClientSecretBasic(secret), true],
    ['an app with its secret in the body', (secret) => oauth4webapi.ClientSecretPost(secret), true],
  ];
  for (const [kind, authenticate, confidential] of kinds) {
    test(`oauth4webapi takes ${kind} all the way`, async () => {
      const issuer = new URL(server().url);
      const as = await oauth4webapi
        .discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
        .then((response) => oauth4webapi.processDiscoveryResponse(issuer, response));
      const app = await newApp(server(), ada, { confidential });
      const client: oauth4webapi.Client = { client_id: app.clientId };
      const verifier = oauth4webapi.generateRandomCodeVerifier();
      const state = oauth4webapi.generateRandomState();
      const address = new URL(as.authorization_endpoint ?? '');
      address.search = new URLSearchParams({
        client_id: app.clientId,
        redirect_uri: app.redirect,
        response_type: 'code',
        scope,
        state,
        code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      const params = oauth4webapi.validateAuthResponse(as, client, await authorize(address), state);

      const authentication = authenticate(app.secret ?? '');
      const granted = await oauth4webapi
        .authorizationCodeGrantRequest(as, client, authentication, params, app.redirect, verifier, insecure)
        .then((response) => oauth4webapi.processAuthorizationCodeResponse(as, client, response));
      expect(granted).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope });
      expect(await sendAs(granted.access_token, 'hello from oauth4webapi')).toBe('hello from oauth4webapi');
      const refreshed = await oauth4webapi
        .refreshTokenGrantRequest(as, client, authentication, granted.refresh_token ?? '', insecure)
        .then((response) => oauth4webapi.processRefreshTokenResponse(as, client, response));
      expect(await works(server(), refreshed.access_token)).toBe(true);
      await oauth4webapi
        .revocationRequest(as, client, authentication, refreshed.refresh_token ?? '', insecure)
        .then((response) => oauth4webapi.processRevocationResponse(response));
      expect(await works(server(), refreshed.access_token)).toBe(false);
      expect(await works(server(), granted.access_token)).toBe(false);
    });

    test(`openid-client takes ${kind} all the way`, async () => {
      const app = await newApp(server(), ada, { confidential });
      const config = await openid.discovery(
        new URL(server().url),
        app.clientId,
        undefined,
        authenticate(app.secret ?? ''),
        { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
      );
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: app.redirect,
        scope,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const checks = { pkceCodeVerifier: verifier, expectedState: state };
      const granted = await openid.authorizationCodeGrant(config, await authorize(address), checks);
      expect(granted).toMatchObject({ expires_in: 3600, scope });
      expect(await sendAs(granted.access_token, 'hello from openid-client')).toBe('hello from openid-client');
      const refreshed = await openid.refreshTokenGrant(config, granted.refresh_token ?? '', { scope: 'messages:read' });
      expect(refreshed.scope).toBe('messages:read');
      await openid.tokenRevocation(config, refreshed.access_token);
      expect(await works(server(), refreshed.access_token)).toBe(false);
      expect(await works(server(), granted.access_token)).toBe(true);
      await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
      expect(await works(server(), granted.access_token)).toBe(false);
    });
  }

  test('openid-client gets a token for an app that acts as its bot', async () => {
    const app = await newApp(server(), ada, { confidential: true });
    const config = await openid.discovery(
      new URL(server().url),
      app.clientId,
      undefined,
      openid.ClientSecretPost(app.secret),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const granted = await openid.clientCredentialsGrant(config, { scope: 'chats:write messages:write' });
    expect(granted.refresh_token).toBeUndefined();
    expect(granted.scope).toBe('messages:write chats:write');
    const { user } = await withToken(server(), granted.access_token).ok('users.me', {});
    expect(user.user_id as number | null).toBe(app.botId);
  });

  test('oauth4webapi is told what the user refused, and by whom', async () => {
    const app = await newApp(server(), ada);
    const client: oauth4webapi.Client = { client_id: app.clientId };
    const issuer = new URL(server().url);
    const as = await oauth4webapi
      .discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
      .then((response) => oauth4webapi.processDiscoveryResponse(issuer, response));
    expect(as.authorization_response_iss_parameter_supported).toBe(true);
    const params = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirect,
      response_type: 'code',
      scope,
      state: 'kept',
      code_challenge: await oauth4webapi.calculatePKCECodeChallenge(oauth4webapi.generateRandomCodeVerifier()),
      code_challenge_method: 'S256',
    });
    const location = new URL(await decide(server(), params, ada, { allowed: false }));
    expect(() => oauth4webapi.validateAuthResponse(as, client, location, 'kept')).toThrow(
      expect.objectContaining({ error: 'access_denied' }),
    );
  });
});
