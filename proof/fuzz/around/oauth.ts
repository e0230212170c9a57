import fc from 'fast-check';
import { deviceCodeType } from '../../../server/auth/oauth/library.ts';
import { OAuth } from '../../../server/auth/oauth/oauth.ts';
import { accessOf, authorizeApp, newCode } from '../../../server/test/support/oauth.ts';
import { headerText, wildText } from '../calls/wild.ts';
import { percent } from '../calls/write.ts';
import type { People } from '../people.ts';
import { type Drawn, type Subject, subject } from '../subject.ts';
import type { Target } from '../target.ts';

/** Issued values that a parameter can have. They are drawn by name, so that a replay finds them again. */
const held = ['client', 'secret', 'code', 'verifier', 'refresh', 'access', 'redirect', 'device'] as const;
type Held = Readonly<Record<(typeof held)[number], string>>;

const names = [
  ...['grant_type', 'client_id', 'client_secret', 'code', 'code_verifier', 'redirect_uri', 'refresh_token'],
  ...['scope', 'token', 'token_type_hint', 'device_code', 'state', '__proto__', ''],
] as const;

const words = [
  ...['authorization_code', 'refresh_token', 'client_credentials', 'password', 'access_token'],
  deviceCodeType,
  ...['messages:read', 'messages:read chats:read', 'admin', '  '],
];

/** A value with a meaning, or an invented one. */
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...held).map((name) => ({ held: name })) },
  { weight: 2, arbitrary: fc.constantFrom(...words) },
  wildText,
);

/** A correct call with some parameters replaced. */
const call = fc.record({
  endpoint: fc.constantFrom('token', 'revoke', 'device_authorization'),
  grant: fc.constantFrom('authorization_code', 'refresh_token', 'client_credentials', deviceCodeType, undefined),
  changes: fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 }),
  repeats: fc.boolean(),
  basic: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom('right', 'wrong'), headerText),
  type: fc.oneof(
    { weight: 5, arbitrary: fc.constant('application/x-www-form-urlencoded') },
    fc.constantFrom('application/json', 'multipart/form-data; boundary=b', ''),
  ),
  query: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, fc.constantFrom('?x', '?client_id=1')),
  method: fc.oneof({ weight: 9, arbitrary: fc.constant('POST') }, fc.constantFrom('GET', 'PUT', 'OPTIONS', 'DELETE')),
});

type OAuthCall = Drawn<typeof call>;

const asked: Readonly<Record<string, readonly (typeof held)[number][]>> = {
  authorization_code: ['code', 'verifier', 'redirect'],
  refresh_token: ['refresh'],
  client_credentials: [],
  [deviceCodeType]: ['device'],
};
const nameOf: Partial<Record<(typeof held)[number], string>> = {
  ...{ code: 'code', verifier: 'code_verifier', redirect: 'redirect_uri', refresh: 'refresh_token' },
  device: 'device_code',
};

function formOf({ endpoint, grant, changes, repeats, basic }: OAuthCall, mine: Held): string {
  const fields: [string, string][] = [['client_id', mine.client]];
  if (basic === undefined) fields.push(['client_secret', mine.secret]);
  if (endpoint === 'revoke') fields.push(['token', mine.access]);
  else if (endpoint === 'device_authorization') fields.push(['scope', 'messages:read chats:read']);
  else if (grant !== undefined) {
    fields.push(['grant_type', grant]);
    for (const name of asked[grant] ?? []) fields.push([nameOf[name] ?? name, mine[name]]);
  }
  const put = changes.map(([name, given]) => [name, typeof given === 'string' ? given : mine[given.held]] as const);
  const kept = repeats ? fields : fields.filter(([name]) => !put.some(([other]) => other === name));
  return [...kept, ...put].map(([name, text]) => `${percent(name)}=${percent(text)}`).join('&');
}

const authorization = (basic: string, mine: Held): string => {
  const encoded = (secret: string) => Buffer.from(`${percent(mine.client)}:${percent(secret)}`).toString('base64');
  if (basic === 'right' || basic === 'wrong') return `Basic ${encoded(basic === 'right' ? mine.secret : 'wrong')}`;
  return basic;
};

/** The characters that RFC 6749 allows in a description. */
const description = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;
const faults = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
  ...['invalid_scope', 'access_denied', 'authorization_pending', 'slow_down', 'expired_token'],
];
const given: Readonly<Record<OAuthCall['endpoint'], readonly string[]>> = {
  token: ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope'],
  revoke: [],
  device_authorization: [
    ...['device_code', 'user_code', 'verification_uri', 'verification_uri_complete', 'expires_in', 'interval'],
  ],
};

/** Returns the body of a response, if there is one. */
async function judge(endpoint: OAuthCall['endpoint'], response: Response): Promise<Record<string, unknown>> {
  const { status, headers } = response;
  if (status === 204) return {};
  const body = (await response.json()) as Record<string, unknown>;
  const shown = `${status} ${JSON.stringify(body)}`;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') throw new Error(`no JSON: ${shown}`);
  if (!headers.has('x-request-id')) throw new Error(`no X-Request-Id: ${shown}`);
  if (headers.get('cache-control') !== 'no-store') throw new Error(`may be kept: ${shown}`);
  const isGiven = status === 200 && Object.keys(body).every((name) => given[endpoint].includes(name));
  const isFault =
    [400, 401, 403, 405, 413, 415].includes(status) &&
    Object.keys(body).join() === 'error,error_description' &&
    faults.includes(String(body.error)) &&
    description.test(String(body.error_description));
  // A network gets only so many codes.
  const isTooMany =
    endpoint === 'device_authorization' &&
    status === 429 &&
    body.error === 'temporarily_unavailable' &&
    headers.has('retry-after');
  if (!isGiven && !isFault && !isTooMany) throw new Error(`not a response of OAuth: ${shown}`);
  return body;
}

/** Returns the code of a device that the user has allowed. */
async function allowedDevice({ server }: Target, { developed, member }: People): Promise<string> {
  const oauth = new OAuth(accessOf(server));
  const { clientId, secret = '' } = developed;
  const fields = Object.entries({ client_id: clientId, client_secret: secret, scope: 'messages:read' });
  const call = { fields, authorization: null, address: '127.0.0.1', networks: [], issuer: server.url };
  const { device_code, user_code } = (await oauth.startDevice(call)) as Record<string, string>;
  const user = { userId: member.userId as never, isAdmin: false, address: '127.0.0.1' };
  const found = await oauth.findDevice(user_code ?? '', user);
  if (found.outcome !== 'ask') throw new Error(`no device waits: ${found.outcome}`);
  await oauth.decideDevice(found, user, true);
  return device_code ?? '';
}

/** Returns the credentials that the app holds. A code can be used once. */
async function holdings(target: Target, people: People): Promise<Held> {
  const { developed, member } = people;
  const { code, verifier, redirect } = await newCode(target.server, developed, member);
  const tokens = await authorizeApp(target.server, developed, member);
  const { clientId: client, secret = '' } = developed;
  const device = await allowedDevice(target, people);
  return { client, secret, code, verifier, redirect, refresh: tokens.refresh, access: tokens.access, device };
}

export function oauthSubjects(target: () => Target): readonly Subject[] {
  const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 4 }), async (calls) => {
    let mine = await holdings(target(), await target().people());
    for (const one of calls) {
      const { endpoint, query, method, type, basic } = one;
      const known = basic !== undefined && { authorization: authorization(basic, mine) };
      const response = await target().send(`/oauth/${endpoint}${query}`, {
        method,
        headers: { 'content-type': type, ...known },
        ...(method !== 'GET' && { body: formOf(one, mine) }),
      });
      const { device_code } = await judge(endpoint, response);
      // The next calls have one that nobody has allowed.
      if (typeof device_code === 'string') mine = { ...mine, device: device_code };
    }
  });
  return [subject('tokens for apps', 60, property)];
}
