import type { Attempt, Delivery } from '@parley-chat/sdk/operations.ts';
import { consoleText } from '../../text/console/text.ts';

const { failures } = consoleText;

export type FailureKind = keyof typeof failures;

/** How an attempt ended. */
export type Ended = Pick<Attempt, 'status' | 'error' | 'cause'>;

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

const classes: Readonly<Record<number, FailureKind>> = { 4: 'rejected', 5: 'broken' };

/** Returns why an attempt failed, or undefined if it succeeded or was not made. A status has kinds of its own. */
export function failureOf({ status, cause }: Ended): FailureKind | undefined {
  if (cause === null) return undefined;
  if (cause !== 'status') return cause;
  return statuses[status ?? 0] ?? classes[Math.floor((status ?? 0) / 100)] ?? 'unexpected';
}

export interface Explanation {
  readonly kind: FailureKind;
  /** For a narrow column. */
  readonly short: string;
  readonly what: string;
  readonly next: string;
}

/** Returns in words why an attempt failed and what to do next, or undefined if it did not fail. `target` is that of a redirect. */
export function explain(ended: Ended, target?: string): Explanation | undefined {
  const { status, error } = ended;
  const kind = failureOf(ended);
  if (kind === undefined) return undefined;
  const { short, what, next } = failures[kind];
  return { kind, short, what: what({ status: status ?? 0, error: error ?? '', target }), next };
}

/**
 * Returns where a redirect from a URL leads: what is kept of its response starts with it. Undefined if webhooks cannot be sent
 * there.
 */
export function redirectTarget({ cause, answer }: Pick<Attempt, 'cause' | 'answer'>, url: string): string | undefined {
  const location = cause === 'redirect' ? /^Location: (.+)/.exec(answer ?? '')?.[1] : undefined;
  if (location === undefined || !URL.canParse(location, url)) return undefined;
  const { protocol, href } = new URL(location, url);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}

/** Returns how the last attempt of a delivery ended. */
export const lastOf = ({ last_status, last_error, last_cause }: Delivery): Ended => ({
  status: last_status,
  error: last_error,
  cause: last_cause,
});
