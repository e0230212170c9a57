import { ApiError, type Client, type ClientInput, type ClientOutput, type EventIterator } from '@parley/sdk';
import type { Patience } from './patience.ts';
import type { Running } from './until-stopped.ts';

export type Filters = Pick<ClientInput<'events.list'>, 'chat_id' | 'events'>;
export type LoggedEvent = ClientOutput<'events.list'>['events'][number];

export interface FollowingParts {
  readonly client: Client;
  readonly filters: Filters;
  readonly running: Running;
  readonly patience: Patience;
}

/** The events of the log after a cursor, in order and as they happen, for as long as the command runs. */
export class Following implements AsyncIterable<LoggedEvent> {
  readonly #parts: FollowingParts;
  #stream: EventIterator<LoggedEvent>;

  private constructor(parts: FollowingParts, after: number | undefined) {
    this.#parts = parts;
    this.#stream = this.#streamAfter(after);
  }

  /** Begins after a cursor, or where none is given with the next event that happens after this has answered. */
  static async begin(parts: FollowingParts, after: number | undefined): Promise<Following> {
    const following = new Following(parts, after);
    await following.#stream.open().catch((error) => following.#beginAnew(error));
    return following;
  }

  /** The place after the event that was given last, or after what was passed over since. */
  get cursor(): number {
    return this.#stream.cursor ?? 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoggedEvent, never> {
    for (;;) {
      try {
        yield* this.#stream;
      } catch (error) {
        await this.#beginAnew(error);
      }
    }
  }

  /** Where the log does not hold the cursor: it was dropped, or is none of this log. */
  async #beginAnew(error: unknown): Promise<void> {
    if (!(error instanceof ApiError && error.code === 'cursor_expired' && this.cursor > 0)) throw error;
    const { running } = this.#parts;
    await running.say(`Event ${this.cursor} is not in the log any more; going on with the oldest that is kept.`);
    this.#stream = this.#streamAfter(0);
  }

  /** A break that is mended at the first attempt is nothing to speak of. */
  #streamAfter(after: number | undefined): EventIterator<LoggedEvent> {
    const { client, filters, running, patience } = this.#parts;
    let breaks = 0;
    return client.events({
      ...filters,
      after,
      signal: running.signal,
      onBreak: (error) => {
        if (++breaks > 1) patience.noteAway(error);
      },
      onOpen: () => {
        breaks = 0;
        patience.noteBack();
      },
    });
  }
}
