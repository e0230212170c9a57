import type { Attempt } from '@parley-chat/sdk/operations.ts';

/** The words for a failed attempt: its name in a narrow column, what happened, and what to do next. */
interface FailureWords {
  readonly short: string;
  readonly what: (failed: {
    readonly status: number;
    readonly error: string;
    /** The URL that a redirect leads to, if it is known. */
    readonly target: string | undefined;
  }) => string;
  readonly next: string;
}

/** Why an attempt without a 2xx failed, as the server says it. */
type Cause = NonNullable<Attempt['cause']>;

/** What the status of a response probably means. */
type StatusKind =
  | 'signature'
  | 'missing'
  | 'method'
  | 'gone'
  | 'tooLarge'
  | 'tooMany'
  | 'rejected'
  | 'away'
  | 'broken'
  | 'unexpected';

export const failures = {
  signature: {
    short: 'Signature refused',
    what: ({ status }) => `The endpoint refused the request with ${status}. It probably does not accept the signature.`,
    next: 'Its secret may differ from the one of this webhook, or it checks a body that was changed on the way: check the signature of a delivery. If you no longer have the secret, rotate it. If a login or a firewall is in front of it, let Parley through.',
  },
  missing: {
    short: 'Not found',
    what: ({ status }) => `The endpoint responded with ${status}: nothing is at this path.`,
    next: 'Compare the path of the URL with the route of your endpoint, and change the one that is wrong.',
  },
  method: {
    short: 'POST refused',
    what: ({ status }) => `The endpoint responded with ${status}: it does not accept POST requests.`,
    next: 'Let the route accept POST, or change the URL to one that does.',
  },
  gone: {
    short: 'Gone',
    what: ({ status }) => `The endpoint responded with ${status}: it wants no more deliveries.`,
    next: 'If this is a mistake, repair the endpoint and resume the webhook. Otherwise delete the webhook.',
  },
  tooLarge: {
    short: 'Too large',
    what: ({ status }) => `The endpoint responded with ${status}: the body is larger than it accepts.`,
    next: 'Let the endpoint, and any proxy in front of it, accept bodies of 1 MiB. Then redeliver.',
  },
  tooMany: {
    short: 'Too many',
    what: ({ status }) => `The endpoint responded with ${status}: it gets more requests than it accepts.`,
    next: 'Parley waits as long as the endpoint asks for. If this happens often, raise the limit of the endpoint, or subscribe to fewer events.',
  },
  rejected: {
    short: 'Refused',
    what: ({ status }) => `The endpoint refused the request with ${status}.`,
    next: 'Read the response of the delivery and the log of the endpoint. An endpoint should respond with 200 to events that it does not need.',
  },
  redirect: {
    short: 'Redirect',
    what: ({ status, target }) =>
      `The endpoint responded with ${status}, a redirect${target === undefined ? '' : ` to ${target}`}. Parley does not follow redirects.`,
    next: 'Change the URL to the one that the redirect leads to. Often only https:// or the slash at the end is missing.',
  },
  away: {
    short: 'Unavailable',
    what: ({ status }) =>
      `A server responded with ${status}: it is not ready, or the program behind it does not respond.`,
    next: 'Check that your program runs, and that the proxy in front of it leads to the right port.',
  },
  broken: {
    short: 'Server error',
    what: ({ status }) => `The endpoint failed with ${status}, an error in its own code.`,
    next: 'Find the error in the log of the endpoint at the time of the attempt. When it is repaired, redeliver.',
  },
  unexpected: {
    short: 'Unexpected status',
    what: ({ status }) => `The endpoint responded with ${status}. Only a status from 200 to 299 means that it arrived.`,
    next: 'Let the endpoint respond with 200.',
  },
  timeout: {
    short: 'Time-out',
    what: () => 'The endpoint did not respond in time: Parley waits for 15 seconds.',
    next: 'Let the endpoint respond at once, and do the work afterwards. If it never responds, check its firewall.',
  },
  dns: {
    short: 'Unknown host',
    what: ({ error }) => `The host of the URL was not found: ${error}.`,
    next: 'Look for a typing mistake in the URL. If the name is new, wait until DNS knows it; Parley tries again by itself.',
  },
  dns_unavailable: {
    short: 'DNS failed',
    what: ({ error }) => `The host of the URL could not be looked up: ${error}.`,
    next: 'The name servers did not respond. Parley tries again by itself. If it lasts, check the DNS of the host and of this server.',
  },
  refused: {
    short: 'Connection refused',
    what: () => 'Nothing listens at the host and port of the URL: the connection was refused.',
    next: 'Start the endpoint, or correct the port of the URL. Parley tries again by itself.',
  },
  unreachable: {
    short: 'No route',
    what: () => 'The network of the endpoint cannot be reached from this server.',
    next: 'Check the address of the host, and the network between it and this server.',
  },
  reset: {
    short: 'Connection lost',
    what: () => 'The endpoint closed the connection before it responded.',
    next: 'It may have crashed, or a proxy in front of it closed the connection. Look at the logs of both.',
  },
  tls: {
    short: 'TLS failed',
    what: ({ error }) => `There is no secure connection to the endpoint: ${error}.`,
    next: 'Renew or correct its certificate, with the whole chain, for the host of the URL. Parley accepts no others.',
  },
  blocked_address: {
    short: 'Address blocked',
    what: ({ error }) => `Parley may not send to this address: ${error}.`,
    next: 'Use a public URL. If the endpoint is in your own network, an administrator can open it with PARLEY_WEBHOOK_NETWORKS.',
  },
  not_http: {
    short: 'Not HTTP',
    what: ({ error }) => `The endpoint did not respond as a web server does: ${error}.`,
    next: 'Check the port of the URL, and whether it must begin with https:// instead of http://.',
  },
  cancelled: {
    short: 'Interrupted',
    what: () => 'Parley was stopped during this attempt.',
    next: 'Nothing to do: it tries again by itself.',
  },
  other: {
    short: 'Failed',
    what: ({ error }) => `The attempt failed: ${error}.`,
    next: 'Try the URL from the machine that Parley runs on, with curl.',
  },
} as const satisfies Readonly<Record<Exclude<Cause, 'status'> | StatusKind, FailureWords>>;

/** What to do next after a test, where the words above speak of deliveries or of another attempt. */
export const testFailures: Readonly<Partial<Record<keyof typeof failures, string>>> = {
  signature:
    'Its secret may differ from the one of this webhook, or it checks a body that was changed on the way. If you no longer have the secret, rotate it. If a login or a firewall is in front of it, let Parley through.',
  gone: 'Repair the endpoint, or use another URL. Parley disables a webhook whose endpoint responds so.',
  tooLarge: 'Let the endpoint, and any proxy in front of it, accept bodies of 1 MiB.',
  tooMany: 'Wait a moment and test again. If this happens often, raise the limit of the endpoint.',
  rejected: 'Read the response and the log of the endpoint, and test again.',
  broken: 'Find the error in the log of the endpoint. When it is repaired, test again.',
  dns: 'Look for a typing mistake in the URL. If the name is new, wait until DNS knows it.',
  dns_unavailable:
    'The name servers did not respond. Test again. If it lasts, check the DNS of the host and of this server.',
  refused: 'Start the endpoint, or correct the port of the URL.',
  cancelled: 'Test again.',
};
