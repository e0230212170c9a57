import type { ChatId, EventName, Signal, SignalName } from '@parley/contract';
import { freeze } from '../domain/event.ts';
import type { LogEntry } from '../store/engine.ts';

/** What is written to every stream that it concerns, made once for all of them. */
export interface Frame {
  /** Undefined: a signal, which has no place in the log. */
  readonly id: number | undefined;
  readonly chatId: ChatId;
  readonly name: EventName | SignalName;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** The body is JSON on one line, so it needs no splitting. */
export const frameOf = ({ event_id, chat_id, event, body }: LogEntry): Frame => ({
  id: event_id,
  chatId: chat_id,
  name: event,
  bytes: encoder.encode(`id: ${event_id}\nevent: ${event}\ndata: ${body}\n\n`),
});

/** Without an id, so that the reader's place in the log stays what it is. */
export const signalFrame = (signal: Signal, at: number): Frame => ({
  id: undefined,
  chatId: signal.data.chat_id,
  name: signal.event,
  bytes: encoder.encode(`event: ${signal.event}\ndata: ${freeze(signal, at)}\n\n`),
});

/** Moves the reader's place in the log without telling anything. It also says that the connection is alive. */
export const placeFrame = (position: number): Uint8Array => encoder.encode(`id: ${position}\n\n`);

/** The first thing in a stream: when to come back after a break, and the place in the log. */
export const opening = (retryMs: number, position: number): Uint8Array =>
  encoder.encode(`retry: ${retryMs}\nid: ${position}\n\n`);
