import { invalidField } from '@parley/contract';

const most = 20;
const mostCharacters = 1_000;

/**
 * Checks the redirect URLs of an app. They are stored and compared as text. Attacks on redirects exploit parsed comparisons:
 * prefixes, decoded slashes, rewritten hosts.
 */
export function checkRedirects(given: readonly string[]): readonly string[] {
  if (given.length === 0) throw invalidField('redirects', 'must have at least one address');
  if (given.length > most) throw invalidField('redirects', `must have at most ${most} addresses`);
  for (const text of given) {
    const fault = faultOf(text);
    if (fault) throw invalidField('redirects', `${JSON.stringify(text.slice(0, 100))} ${fault}`);
  }
  return [...new Set(given)];
}

function faultOf(text: string): string | undefined {
  if (text.length > mostCharacters) return `must be at most ${mostCharacters} characters`;
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}*]/.test(text) || !URL.canParse(text)) {
    return 'must be a URL such as https://example.com/callback';
  }
  const url = new URL(text);
  if (text.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '' || /^[^/?]*\/\/[^/?]*@/.test(text)) return 'must not name a user';
  const reserved = ['code', 'state', 'iss', 'error'].find((name) => url.searchParams.has(name));
  if (reserved) return `must not have ${reserved} in its query, where our response will have it`;
  if (url.protocol === 'https:') {
    // Without the slashes a browser takes it for a relative path.
    return /^https:\/\/[^/?]/i.test(text) ? undefined : 'must be a URL such as https://example.com/callback';
  }
  if (url.protocol === 'http:') {
    return loopback.test(text) ? undefined : 'must be https, or http to 127.0.0.1, [::1] or localhost';
  }
  // RFC 8252: the scheme of a native app is a domain name that its developer owns.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
    ? undefined
    : 'must be https, or a scheme such as com.example.app:';
}

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?([/?].*)?$/;

/**
 * Whether the URL is registered for the app. A native app listens on any free port, so its loopback URLs are compared without
 * the port.
 */
export function allowsRedirect(registered: readonly string[], anyPort: boolean, asked: string): boolean {
  if (registered.includes(asked)) return true;
  const [, host, rest] = (anyPort && URL.canParse(asked) && loopback.exec(asked)) || [];
  if (host === undefined) return false;
  return registered.some((known) => {
    const [, knownHost, knownRest] = loopback.exec(known) ?? [];
    return knownHost === host && knownRest === rest;
  });
}
