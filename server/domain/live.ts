import type { ChatId, EventName, SignalName, TokenId, UserId } from '@parley/contract';

/** The reader of a stream, and the events that they asked for. */
export interface LiveQuery {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  /** When their access expires. Null if never. */
  readonly expiresAt: number | null;
  /** Starts after this event. Undefined: starts now. */
  readonly after: number | undefined;
  readonly chatId: ChatId | undefined;
  readonly names: ReadonlySet<EventName | SignalName> | undefined;
}

export interface LiveSink {
  /** Returns a promise if the reader's buffer is full. It resolves once there is room again. */
  write(bytes: Uint8Array): Promise<unknown> | undefined;
  end(): void;
}

export interface LiveStream {
  follow(sink: LiveSink): void;
  /** The reader has disconnected or never connected. */
  leave(): void;
}
