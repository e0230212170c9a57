import type { LoggedEvent } from '@parley/contract';
import type { Evidence } from '../evidence.ts';
import type { Block } from './sse.ts';

/** What came of one try of a call, or of opening a stream. */
export interface Answer {
  readonly operation: string;
  /** The status; what its node was like when the connection broke; or another word for what happened. */
  readonly outcome: number | string;
  readonly says: string;
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

/** Everything that is known once it is over. */
export interface ClusterEvidence extends Evidence {
  readonly answers: readonly Answer[];
  readonly streams: readonly Streamed[];
  readonly lists: readonly Listed[];
  /** Who should be in which chat by the last answers, of those who come and go. */
  readonly seats: readonly Seat[];
  /** Who is, of the same. */
  readonly foundSeats: readonly Seat[];
}
