import type { LoggedEvent } from '@parley/contract';
import type { Evidence } from '../harness/evidence.ts';
import type { Block } from '../harness/sse.ts';

/** The result of one attempt of a call, or of opening a stream. */
export interface Answer {
  readonly operation: string;
  /** The status; the state of the server when the connection broke; or another word for what happened. */
  readonly outcome: number | string;
  readonly detail: string;
  /** The `Idempotency-Key` of the request, if it had one. */
  readonly key?: string;
}

/** All blocks that one reader received over its connections, in order. */
export interface StreamEvidence {
  readonly name: string;
  readonly blocks: readonly Block[];
  /** The result of `events.list` for the same user, range and filter. */
  readonly expected: readonly LoggedEvent[];
}

/** The result of `events.list` for a user from the beginning. */
export interface ListEvidence {
  readonly name: string;
  readonly userId: number;
  readonly events: readonly LoggedEvent[];
}

export interface Membership {
  readonly chat_id: number;
  readonly user_id: number;
}

/** The messages that somebody read page by page while others wrote them. */
export interface PageEvidence {
  readonly chat_id: number;
  readonly ids: readonly number[];
}

/** Everything that is known at the end of a run. */
export interface RunEvidence extends Evidence {
  readonly answers: readonly Answer[];
  readonly streams: readonly StreamEvidence[];
  readonly pages: readonly PageEvidence[];
  readonly lists: readonly ListEvidence[];
  /** The memberships of visitors and guests by the last responses. */
  readonly memberships: readonly Membership[];
  /** The same, as the server lists them. */
  readonly foundMemberships: readonly Membership[];
}
