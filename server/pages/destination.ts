/** The target of the redirect after the consent page. */
export interface Destination {
  readonly kind: 'site' | 'program' | 'app';
  /** For people to check. Hosts are in Punycode, which cannot imitate another name. */
  readonly name: string;
  /** For `form-action` in the page's policy. */
  readonly formTargets: readonly string[];
}

const loopback = /^(127\.0\.0\.1|\[::1\]|localhost)$/;

/**
 * Chromium applies `form-action` to every redirect after the form, those of the app included. If one is not allowed, the
 * button does nothing. The hosts are unknown, and a policy cannot name an IPv6 host, so it lists schemes.
 */
export function destinationOf(redirect: string): Destination {
  const { protocol, hostname, host } = new URL(redirect);
  if (protocol !== 'http:' && protocol !== 'https:') {
    return { kind: 'app', name: protocol.slice(0, -1), formTargets: [protocol] };
  }
  return {
    kind: loopback.test(hostname) ? 'program' : 'site',
    name: host,
    formTargets: protocol === 'http:' ? ['http:', 'https:'] : ['https:'],
  };
}
