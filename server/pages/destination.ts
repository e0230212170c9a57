/** Where a browser goes once somebody has decided about an app. */
export interface Destination {
  readonly kind: 'site' | 'program' | 'app';
  /** As people can check it: hosts in the spelling that cannot pass for another. */
  readonly name: string;
  /** What the page's policy must let its form lead to. */
  readonly formTargets: readonly string[];
}

const loopback = /^(127\.0\.0\.1|\[::1\]|localhost)$/;

/**
 * Chromium holds the `form-action` of a page against every redirect that follows its form: ours to the app, and those that the
 * app goes on with, which nobody knows beforehand. Where one is not listed, the button does nothing. So schemes are listed and
 * not hosts, of which a policy can write no IPv6 address either.
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
