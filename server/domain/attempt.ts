import type { FailureCause, UserId } from '@parley/contract';

/** The request of one attempt. */
export interface Sending {
  /** The id of the event, as in the headers. */
  readonly id: string;
  readonly event: string;
  readonly body: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** 0 outside of a replay. */
  readonly replayId: number;
  readonly at: number;
  /** A forwarded request asked for this attempt, so it must not reach a loopback address. */
  readonly isForwarded?: boolean;
}

/** An endpoint that is tested before it is registered. Nothing of it is stored. */
export interface UnregisteredEndpoint {
  /** As `checkUrl` returned it. */
  readonly url: string;
  readonly secret: string;
  /** The person who tests it, or whose bot does. */
  readonly ownerId: UserId;
}

/** What an attempt outside of the queues goes to: the URL of a webhook, or another one that is tested. */
export type AttemptTarget = 'webhook' | 'url';

/** The result of one attempt. */
export interface AttemptMade {
  readonly delivered: boolean;
  readonly status: number | null;
  /** For people. */
  readonly error: string | null;
  readonly cause: FailureCause | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}

/** Returns why a response is a failure, or null if it is none. */
export function statusCause(status: number): FailureCause | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
