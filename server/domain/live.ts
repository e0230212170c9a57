import type { ChatId, EventName, SignalName, TokenId, UserId } from '@parley/contract';

/** The user of a stream, and which events it has. */
export interface LiveQuery {
  readonly userId: UserId;
  /** The person behind the user. */
  readonly ownerId: UserId;
  readonly tokenId: TokenId;
  /** When the access expires; null: never. */
  readonly expiresAt: number | null;
  /** Starts after this event; undefined: with the next one. */
  readonly after: number | undefined;
  readonly chatId: ChatId | undefined;
  readonly names: ReadonlySet<EventName | SignalName> | undefined;
}

/** The response that a stream is written to. */
export interface LiveSink {
  /** Returns a promise if the buffer is full. It resolves once there is room. */
  write(bytes: Uint8Array): Promise<unknown> | undefined;
  end(): void;
}

/** An open stream. */
export interface LiveStream {
  follow(sink: LiveSink): void;
  /** The client has disconnected, or never connected. */
  leave(): void;
}
