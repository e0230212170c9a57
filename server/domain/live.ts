import type { ChatId, EventName, SignalName, TokenId, UserId } from '@parley/contract';

/** Whom a stream is for, and what of it. */
export interface LiveQuery {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  /** When their access ends; null: never. */
  readonly expiresAt: number | null;
  /** Everything after this event; undefined: from now on. */
  readonly after: number | undefined;
  readonly chatId: ChatId | undefined;
  readonly names: ReadonlySet<EventName | SignalName> | undefined;
}

/** Where a stream is written to. */
export interface LiveSink {
  /** Answers a promise where the reader has more than enough to take in; it is kept once there is room again. */
  write(bytes: Uint8Array): Promise<unknown> | undefined;
  /** Nothing more comes. */
  end(): void;
}

/** A stream that is ready to be written out. */
export interface LiveStream {
  follow(sink: LiveSink): void;
  /** The reader has gone, or never came. */
  leave(): void;
}
