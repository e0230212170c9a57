import { consoleText } from '../../text/console/text.ts';

const { failures } = consoleText;

export type FailureKind = keyof typeof failures;

/** How an attempt ended: the status of the response, or why there was none, in the words of `server/webhooks/`. */
export interface Ended {
  readonly status: number | null;
  readonly error: string | null;
}

const statuses: Readonly<Record<number, FailureKind>> = {
  401: 'signature',
  403: 'signature',
  404: 'missing',
  405: 'method',
  410: 'gone',
  413: 'tooLarge',
  429: 'tooMany',
  502: 'away',
  503: 'away',
  504: 'away',
};

const classes: Readonly<Record<number, FailureKind>> = { 3: 'redirect', 4: 'refused', 5: 'broken' };

/** The words of the server, and what they mean. The first row that matches applies: names of hosts are in these words too. */
const errors: readonly (readonly [words: RegExp, kind: FailureKind])[] = [
  [/^the name \S+ does not resolve$/, 'name'],
  [/^the name \S+ (?:cannot be looked up|took too long to look up)/, 'nameServer'],
  [/^connection refused$/, 'connection'],
  [/^no route to the address$/, 'route'],
  [/^no complete response within|^the address does not respond$/, 'timeout'],
  [/^the connection broke off$/, 'reset'],
  [/^the certificate |^the TLS /, 'tls'],
  [/^the response is not valid HTTP$|^the headers of the response/, 'notHttp'],
  [/^the attempt was cancelled$/, 'cancelled'],
  [/ leads to |^must | is (?:an?|the) .*;/, 'blocked'],
];

/** Returns why an attempt failed, or undefined if it succeeded or was not made. */
export function failureOf({ status, error }: Ended): FailureKind | undefined {
  if (status !== null) {
    if (status >= 200 && status < 300) return undefined;
    return statuses[status] ?? classes[Math.floor(status / 100)] ?? 'unexpected';
  }
  if (error === null) return undefined;
  return errors.find(([words]) => words.test(error))?.[1] ?? 'other';
}

export interface Explanation {
  readonly kind: FailureKind;
  /** For a narrow column. */
  readonly short: string;
  readonly what: string;
  readonly next: string;
}

/** Returns in words why an attempt failed and what to do next, or undefined if it did not fail. */
export function explain({ status, error }: Ended): Explanation | undefined {
  const kind = failureOf({ status, error });
  if (kind === undefined) return undefined;
  const { short, what, next } = failures[kind];
  return { kind, short, what: what({ status: status ?? 0, error: error ?? '' }), next };
}

/** Returns how the last attempt of a delivery ended. */
export const lastOf = ({
  last_status,
  last_error,
}: {
  last_status: number | null;
  last_error: string | null;
}): Ended => ({
  status: last_status,
  error: last_error,
});
