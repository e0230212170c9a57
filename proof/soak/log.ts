import type { LoggedEvent } from '@parley/contract';
import type { Client } from '../../server/test/support/client.ts';
import { eventsAfter } from '../../server/test/support/world.ts';
import { pause } from '../chaos/pause.ts';

const lookEveryMs = 500;

/** Follows the log as its reader sees it, before the server drops it. */
export class Log {
  /** Everything so far, without the texts. */
  readonly events: LoggedEvent[] = [];
  readonly #reader: Client;
  readonly #told: (events: readonly LoggedEvent[]) => void;
  #cursor = 0;

  constructor(reader: Client, told: (events: readonly LoggedEvent[]) => void) {
    this.#reader = reader;
    this.#told = told;
  }

  async run(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await this.readOn();
      await pause(lookEveryMs, end);
    }
  }

  /** Up to what is there now. */
  async readOn(): Promise<void> {
    const events = await eventsAfter(this.#reader, this.#cursor);
    this.#cursor = events.at(-1)?.event_id ?? this.#cursor;
    for (const { event_id, event, timestamp, data } of events) {
      const { chat_id, message_id, user_id } = data;
      this.events.push({ event_id, event, timestamp, data: { chat_id, message_id, user_id } } as LoggedEvent);
    }
    this.#told(events);
  }
}
