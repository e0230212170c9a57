import { expect } from 'bun:test';
import type { Scope } from '@parley/contract';
import { type AppRequest, addApp } from '../../auth/apps.ts';
import type { UserActor } from '../../auth/audit.ts';
import { OAuth } from '../../auth/oauth/oauth.ts';
import type { AccessServices } from '../../auth/services.ts';
import { findUser } from '../../store/access/users.ts';
import { Client } from './client.ts';
import { noQuotas } from './quotas.ts';
import type { TestServer } from './server.ts';
import type { Reply } from './wire.ts';

/** Adds an app in a transaction of its own. */
export const registerApp = (services: AccessServices, owner: UserActor, request: AppRequest) =>
  services.engine.write((tx) => addApp(tx, services, owner, request));

/** An app with its credentials. */
export interface TestApp {
  readonly appId: number;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  readonly redirect: string;
  readonly botId: number | null;
  readonly owner: Client;
}

export const appRedirect = 'https://app.example/callback';
export const nativeRedirect = 'http://127.0.0.1/callback';

/** The services for access, beside the server on the same database. */
export function accessOf(server: TestServer, now: () => number = Date.now): AccessServices {
  return { ...server.tools, now, quotas: noQuotas, ended: async () => {} };
}

export async function newApp(
  server: TestServer,
  owner: Client,
  options: { confidential?: boolean; redirects?: readonly string[]; name?: string } = {},
): Promise<TestApp> {
  const { confidential = false, name = 'Test app' } = options;
  const redirects = options.redirects ?? [confidential ? appRedirect : nativeRedirect];
  const actor = { userId: owner.userId as never, appId: 0, address: '127.0.0.1' };
  const { app, clientSecret } = await registerApp(accessOf(server), actor, { name, redirects, confidential });
  return {
    appId: app.app_id,
    clientId: app.client_id,
    secret: clientSecret,
    redirect: redirects[0] ?? '',
    botId: app.bot_id,
    owner,
  };
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function newPkce(): Pkce {
  const verifier = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  return { verifier, challenge: new Bun.CryptoHasher('sha256').update(verifier).digest('base64url') };
}

/** Returns valid parameters of an authorization request. Undefined removes one. */
export function authorizationRequest(
  app: TestApp,
  { challenge }: Pick<Pkce, 'challenge'>,
  other: Readonly<Record<string, string | undefined>> = {},
): URLSearchParams {
  const params: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: app.redirect,
    scope: 'messages:read messages:write chats:write',
    state: 'a state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...other,
  };
  return new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Authorizes or denies the request as a user would in a browser. Returns the URL of the redirect. */
export async function decide(
  server: TestServer,
  params: URLSearchParams,
  user: Client,
  options: { allowed?: boolean; now?: () => number } = {},
): Promise<string> {
  const row = await findUser(server.engine, user.userId as never);
  if (!row) throw new Error('there is no such user');
  const decider = { userId: row.user_id, isAdmin: row.is_admin, address: '127.0.0.1' };
  const oauth = new OAuth(accessOf(server, options.now));
  const end = await oauth.decide(params, decider, options.allowed ?? true, server.url);
  if (end.outcome === 'refused') throw new Error(`refused: ${end.message}`);
  return end.location;
}

/** Returns an authorized code and its verifier. */
export async function newCode(
  server: TestServer,
  app: TestApp,
  user: Client,
  options: { scopes?: readonly Scope[]; redirect?: string; now?: () => number } = {},
): Promise<{ code: string; verifier: string; redirect: string }> {
  const pkce = newPkce();
  const redirect = options.redirect ?? app.redirect;
  const scope = options.scopes?.join(' ');
  const params = authorizationRequest(app, pkce, { redirect_uri: redirect, ...(scope !== undefined && { scope }) });
  const location = new URL(await decide(server, params, user, { ...(options.now && { now: options.now }) }));
  const code = location.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${location}`);
  return { code, verifier: pkce.verifier, redirect };
}

export type Form = Readonly<Record<string, string | undefined>>;

/** Posts a form to an endpoint. */
export async function postForm(url: string, form: Form, headers: Record<string, string> = {}): Promise<Reply> {
  const fields = Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
}

/** Requests tokens as an app. A confidential one sends its secret in the body. */
export function askForTokens(
  server: Pick<TestServer, 'url'>,
  app: TestApp,
  form: Form,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const credentials = { client_id: app.clientId, client_secret: app.secret };
  return postForm(`${server.url}/oauth/token`, { ...credentials, ...form }, headers);
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly scope: string;
}

export function tokensIn(reply: Reply): Tokens {
  if (reply.status !== 200) throw new Error(`no tokens: ${reply.status} ${JSON.stringify(reply.body)}`);
  const { access_token, refresh_token, scope } = reply.body;
  return { access: String(access_token), refresh: String(refresh_token), scope: String(scope) };
}

export const exchangeForm = ({ code, verifier, redirect }: { code: string; verifier: string; redirect: string }) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: redirect,
});

export const refreshForm = (refresh_token: string, scope?: string): Form => ({
  grant_type: 'refresh_token',
  refresh_token,
  scope,
});

/** Runs the whole flow: a user authorizes the app, and the app gets its tokens. */
export async function authorizeApp(
  server: TestServer,
  app: TestApp,
  user: Client,
  options: { scopes?: readonly Scope[]; now?: () => number } = {},
): Promise<Tokens> {
  return tokensIn(await askForTokens(server, app, exchangeForm(await newCode(server, app, user, options))));
}

export const revoke = (server: Pick<TestServer, 'url'>, app: TestApp, token: string, other: Form = {}) =>
  postForm(`${server.url}/oauth/revoke`, { client_id: app.clientId, client_secret: app.secret, token, ...other });

/** Returns a client with an app's token. */
export const withToken = (server: Pick<TestServer, 'url'>, token: string): Client => new Client(server.url, token, 0);

/** Returns true if the API accepts a token. */
export async function works(server: Pick<TestServer, 'url'>, token: string): Promise<boolean> {
  const { status, error } = await withToken(server, token).call('users.me', {});
  if (status !== 200 && status !== 401) throw new Error(`${status} ${JSON.stringify(error)}`);
  return status === 200;
}

/** Checks an OAuth error response. */
export function expectFault(reply: Reply, error: string, status = error === 'invalid_client' ? 401 : 400): void {
  expect({ status: reply.status, error: reply.body.error }).toEqual({ status, error });
  expect(Object.keys(reply.body)).toEqual(['error', 'error_description']);
  expect(reply.body.error_description).toMatch(/^[A-Za-z][\x20\x21\x23-\x5b\x5d-\x7e]*\.$/);
  expect(reply.body.error_description).not.toContain('`');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(reply.headers.get('pragma')).toBe('no-cache');
}

/** Returns a bot of a person, with a token from its app's client credentials. */
export async function botOf(server: TestServer, owner: Client): Promise<Client> {
  const app = await newApp(server, owner, { confidential: true });
  return withToken(server, tokensIn(await askForTokens(server, app, { grant_type: 'client_credentials' })).access);
}
