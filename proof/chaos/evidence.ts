import type { LoggedEvent } from '@parley/contract';

/** One request to an endpoint that came in full. */
export interface Arrival {
  /** By its name in lower case; empty where there is none. */
  readonly header: (name: string) => string;
  readonly body: Buffer;
  /** Its place among everything that happened at this endpoint. */
  readonly at: number;
  /** The place of the answer that accepted it; undefined where there was none, or another one. */
  acceptedAt: number | undefined;
}

export interface Told {
  readonly name: string;
  readonly webhookId: number;
  readonly secret: string;
  readonly arrivals: readonly Arrival[];
  /** What `events.list` tells its owner of all that it is to be told of, in its order. */
  readonly log: readonly LoggedEvent[];
}

export interface Message {
  readonly message_id: number;
  readonly chat_id: number;
  readonly content: string;
}

/** A change beside the sends that the server answered for, by the event that tells of it: to a message, or to who is in a chat. */
export type Change =
  | { readonly event: string; readonly message_id: number }
  | { readonly event: string; readonly chat_id: number; readonly user_id: number };

/** Everything that is known once it is over. */
export interface Evidence {
  /** What the senders were told is there, as the last answer about it said. */
  readonly acknowledged: readonly Message[];
  readonly changes: readonly Change[];
  /** What `get_messages` finds, chat by chat. */
  readonly found: readonly Message[];
  /** What `events.list` tells somebody who is in all of these chats, in its order. */
  readonly log: readonly LoggedEvent[];
  readonly told: readonly Told[];
}
