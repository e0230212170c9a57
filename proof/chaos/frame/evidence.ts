import type { LoggedEvent } from '@parley/contract';
import type { Evidence } from '../evidence.ts';
import type { Block } from './sse.ts';

/** What came of one try of a call, or of opening a stream. */
export interface Answer {
  readonly operation: string;
  /** The status; what its node was like when the connection broke; or another word for what happened. */
  readonly outcome: number | string;
  readonly says: string;
  /** The `Idempotency-Key` that it carried, if it carried one. */
  readonly key?: string;
}

/** What one reader got over all of its connections, one after the other. */
export interface Streamed {
  readonly name: string;
  readonly blocks: readonly Block[];
  /** What `events.list` tells the same user of the same stretch, under the same filter. */
  readonly expected: readonly LoggedEvent[];
}

/** What `events.list` tells a user from the very beginning. */
export interface Listed {
  readonly name: string;
  readonly userId: number;
  readonly events: readonly LoggedEvent[];
}

/** Somebody in a chat. */
export interface Seat {
  readonly chat_id: number;
  readonly user_id: number;
}

/** The messages that somebody read page by page while they were written. */
export interface Paged {
  readonly chat_id: number;
  readonly ids: readonly number[];
}

/** Everything that is known once it is over. */
export interface TrialEvidence extends Evidence {
  readonly answers: readonly Answer[];
  readonly streams: readonly Streamed[];
  readonly pages: readonly Paged[];
  readonly lists: readonly Listed[];
  /** Who should be in which chat by the last answers, of those who come and go. */
  readonly seats: readonly Seat[];
  /** Who is, of the same. */
  readonly foundSeats: readonly Seat[];
}
