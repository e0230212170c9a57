import { renderMessageEvent } from '../../domain/event.ts';
import type { LogEntry } from '../engine/engine.ts';

/** An event as it is stored: with its body, or with the format that its body is rendered in from its message. */
export interface EventRow extends Omit<LogEntry, 'body' | 'size'> {
  /** Empty if the body is rendered. */
  readonly body: string;
  readonly format: number | null;
  /** The JSON of the message. */
  readonly message: string | null;
}

/** Returns the event as its consumers read it. Its body is rendered when it is first read. */
export const toEntry = (row: EventRow): LogEntry => new Entry(row);

class Entry implements LogEntry {
  readonly event_id: LogEntry['event_id'];
  readonly chat_id: LogEntry['chat_id'];
  readonly event: LogEntry['event'];
  readonly created_at: number;
  readonly size: number;
  #body: string;
  #format: number | null;

  constructor({ event_id, chat_id, event, created_at, body, format, message }: EventRow) {
    this.event_id = event_id;
    this.chat_id = chat_id;
    this.event = event;
    this.created_at = created_at;
    this.#body = message ?? body;
    this.#format = message === null ? null : format;
    this.size = this.#body.length;
  }

  get body(): string {
    if (this.#format !== null) {
      this.#body = renderMessageEvent(this.#format, this.#body);
      this.#format = null;
    }
    return this.#body;
  }
}
