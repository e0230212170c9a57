import { expect } from 'bun:test';
import { ParleyError, scopeNames } from '@parley/contract';
import fc from 'fast-check';
import { challengeIn, responseUrl } from '../../../server/auth/oauth/authorization-request.ts';
import { OAuthFault } from '../../../server/auth/oauth/faults.ts';
import { readParameters, refuseRepeats } from '../../../server/auth/oauth/parameters.ts';
import { allowsRedirect, checkRedirects } from '../../../server/auth/oauth/redirects.ts';
import { readScopes } from '../../../server/auth/oauth/scope.ts';
import { destinationOf } from '../../../server/pages/destination.ts';
import { readId } from '../../../server/pages/ids.ts';
import { localPath } from '../../../server/pages/next.ts';
import { elsewhere, joined, token, wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, outcome } from './outcome.ts';

const isFault = isA(OAuthFault);

const schemes = 'https: http: com.example.app: javascript: data: // / \\ @ : # ? & %2f ..';
const hosts = '127.0.0.1 [::1] localhost app.example :8080 :99999 code= state=1 %00 /cb';
const urlPiece = token(`${schemes} ${hosts}`, '\t', '\n', ' ');
const url = joined(urlPiece, 9);
const origins = ['https://app.example', 'http://127.0.0.1', 'http://localhost:1', 'http://[::1]', 'com.example.app:'];
const likely = fc.tuple(fc.constantFrom(...origins), joined(urlPiece, 4)).map((parts) => parts.join(''));

/** An app may only be redirected to https, to the machine itself, or to a scheme of its own. */
const redirects = fc.property(fc.oneof(url, likely), (text) => {
  const { refused } = outcome(() => checkRedirects([text]), isA(ParleyError));
  if (refused) return;
  const { protocol, hostname, username, password, hash } = new URL(text);
  expect([username, password, hash]).toEqual(['', '', '']);
  if (protocol === 'http:') expect(['127.0.0.1', '[::1]', 'localhost']).toContain(hostname);
  else expect(protocol).toMatch(/^(?:https|[a-z][a-z\d+-]*\.[a-z\d.+-]+):$/);
  expect(allowsRedirect([text], false, text)).toBe(true);
  expect(destinationOf(text).name).not.toBe('');
  const back = new URL(responseUrl(text, 'http://us', 'a&b', { code: 'x=y' }));
  expect(back.host).toBe(new URL(text).host);
  expect(back.searchParams.getAll('code')).toEqual(['x=y']);
  expect(back.searchParams.getAll('state')).toEqual(['a&b']);
});

/** An allowed redirect differs from the registered one at most by the port of this machine. */
const otherRedirects = fc.property(likely, likely, fc.option(fc.nat({ max: 70_000 })), (known, other, port) => {
  fc.pre(!outcome(() => checkRedirects([known]), isA(Error)).refused);
  const asked = port === null ? other : known.replace(/^(http:\/\/(?:\[::1\]|[^/:?]+))(?::\d+)?/, `$1:${port}`);
  expect(allowsRedirect([known], false, asked)).toBe(asked === known);
  if (!allowsRedirect([known], true, asked) || asked === known) return;
  const [a, b] = [new URL(known), new URL(asked)];
  a.port = b.port = '';
  expect(b.href).toBe(a.href);
  expect(a.protocol).toBe('http:');
});

const scope = fc.array(fc.oneof(fc.constantFrom(...scopeNames, ' ', '  '), fc.string({ maxLength: 5 })), {
  maxLength: 8,
});

const scopes = fc.property(scope, (names) => {
  const text = names.join(' ');
  const { value, refused } = outcome(() => readScopes(text), isFault);
  const asked = new Set(text.split(' ').filter(Boolean));
  expect(refused).toBe([...asked].some((name) => !(scopeNames as readonly string[]).includes(name)));
  if (value) expect(value).toEqual(scopeNames.filter((name) => asked.has(name)));
});

const challenge = fc.property(
  fc.oneof(fc.stringMatching(/^[\w-]{42,44}$/), wildText),
  fc.constantFrom('S256', 'plain', 's256', ''),
  (text, method) => {
    const { values } = readParameters([
      ['code_challenge', text],
      ['code_challenge_method', method],
    ]);
    const { refused } = outcome(() => challengeIn(values), isFault);
    expect(refused).toBe(!(method === 'S256' && /^[\w-]{43}$/.test(text) && text.length === 43));
  },
);

const parameters = fc.property(
  fc.array(fc.tuple(fc.constantFrom<string>('a', 'b', '__proto__'), fc.constantFrom<string>('', '1', '2'))),
  (pairs) => {
    const read = readParameters(pairs);
    const names = pairs.map(([name]) => name);
    const { refused } = outcome(() => refuseRepeats(read), isFault);
    expect(refused).toBe(new Set(names).size < names.length);
    for (const [name, value] of read.values) expect(pairs).toContainEqual([name, value]);
  },
);

const origin = 'http://ours.example';

/** Our pages never redirect to another site. */
const next = fc.property(
  fc.oneof(
    url,
    elsewhere,
    wildText,
    url.map((text) => `/${text}`),
    url.map((text) => `//${text}`),
  ),
  (text) => {
    const path = localPath(origin, text);
    expect(path).toStartWith('/');
    expect(path).not.toMatch(/^\/[/\\]/);
    expect(new URL(path, origin).origin).toBe(origin);
    expect(localPath(origin, path)).toBe(path);
  },
);

const ids = fc.property(fc.oneof(fc.maxSafeNat().map(String), wildText), (text) => {
  const id = readId(text);
  if (id === undefined) expect(/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))).toBe(false);
  else expect(String(id)).toBe(text);
});

export const authorization = [
  subject('an app is sent back only to where it lives', 500, redirects),
  subject('what was not registered differs by a port alone', 300, otherRedirects),
  subject('scopes are read in order, or refused', 200, scopes),
  subject('a challenge is the hash of a verifier', 200, challenge),
  subject('a parameter that is given twice is refused', 200, parameters),
  subject('a page leads on to our own pages alone', 500, next),
  subject('an id in an address is a whole number', 200, ids),
];
