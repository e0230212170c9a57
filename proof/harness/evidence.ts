import type { LoggedEvent } from '@parley/contract';

/** One complete request to an endpoint. */
export interface Arrival {
  /** Takes the name in lower case. Returns an empty string if there is no such header. */
  readonly header: (name: string) => string;
  readonly body: Buffer;
  /** Its place among everything that happened at this endpoint. */
  readonly at: number;
  /** The place of the response that accepted it, if one did. */
  acceptedAt: number | undefined;
}

/** A webhook, what arrived at its endpoint, and what should have. */
export interface WebhookEvidence {
  readonly name: string;
  readonly webhookId: number;
  readonly secret: string;
  readonly arrivals: readonly Arrival[];
  /** The events that `events.list` returns to its owner under the filter of the webhook, in order. */
  readonly log: readonly LoggedEvent[];
}

export interface Message {
  readonly message_id: number;
  readonly chat_id: number;
  readonly content: string;
}

/** An acknowledged change beside the sends, by its event: of a message, or of a membership. */
export type Change =
  | { readonly event: string; readonly message_id: number }
  | { readonly event: string; readonly chat_id: number; readonly user_id: number };

/** Everything that is known at the end of a run. */
export interface Evidence {
  /** The messages that the server acknowledged, as its last response about each said. */
  readonly acknowledged: readonly Message[];
  readonly changes: readonly Change[];
  /** The messages that `get_messages` returns, chat by chat. */
  readonly found: readonly Message[];
  /** The events that `events.list` returns to a user who is in all of these chats, in order. */
  readonly log: readonly LoggedEvent[];
  readonly webhooks: readonly WebhookEvidence[];
}
