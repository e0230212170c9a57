import type { ChatId, EventName, Signal, SignalName } from '@parley/contract';
import { freeze } from '../domain/event.ts';
import type { LogEntry } from '../store/engine/engine.ts';

/** A server-sent event, encoded once for all streams. */
export interface Frame {
  /** Undefined for a signal, which is not in the log. */
  readonly id: number | undefined;
  /** Undefined for a signal that is not about a chat. */
  readonly chatId: ChatId | undefined;
  readonly name: EventName | SignalName;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** The body is JSON on one line, so one `data` line holds it. */
export const eventFrame = ({ event_id, chat_id, event, body }: LogEntry): Frame => ({
  id: event_id,
  chatId: chat_id,
  name: event,
  bytes: encoder.encode(`id: ${event_id}\nevent: ${event}\ndata: ${body}\n\n`),
});

/** Has no id, so the client's cursor stays as it is. */
export const signalFrame = (signal: Signal, at: number): Frame => ({
  id: undefined,
  chatId: 'chat_id' in signal.data ? signal.data.chat_id : undefined,
  name: signal.event,
  bytes: encoder.encode(`event: ${signal.event}\ndata: ${freeze(signal, at)}\n\n`),
});

/** Moves the client's cursor without an event. It also shows that the connection is alive. */
export const cursorFrame = (position: number): Uint8Array => encoder.encode(`id: ${position}\n\n`);

/** The first frame of a stream: the delay before a reconnect, and the cursor. */
export const openingFrame = (retryMs: number, position: number): Uint8Array =>
  encoder.encode(`retry: ${retryMs}\nid: ${position}\n\n`);
