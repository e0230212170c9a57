import { ApiError, type Client, type ClientInput, type LoggedEvent } from '@parley-chat/sdk';
import { signal } from '@preact/signals';

type EventName = NonNullable<ClientInput<'events.list'>['events']>[number];

/** Which events are read. */
export interface LogFilter {
  readonly event: string | undefined;
  readonly chatId: number | undefined;
}

const olderRows = 50;
/** The server returns no more at once. */
const pageSize = 200;
/** The ids that are looked at for older rows at first. Ids of other people's events are among them. */
const firstSpan = pageSize;
const growth = 4;

/**
 * The end of the log, the newest event first. The API reads the log forwards only, so older rows are looked for in spans of ids,
 * which grow while little is found in them.
 */
export class EventTail {
  readonly rows = signal<readonly LoggedEvent[]>([]);
  /** Whether there may be older ones than the last row. */
  readonly hasOlder = signal(false);
  readonly isPaused = signal(false);
  readonly isLoaded = signal(false);
  readonly #client: Client;
  readonly #filter: Pick<ClientInput<'events.list'>, 'events' | 'chat_id'>;
  /** All events up to it were read. */
  #cursor = 0;
  /** The older rows begin below this id. */
  #end = 0;
  /** Nothing is kept below this id. Undefined until the server has said that a cursor is too old. */
  #floor: number | undefined;
  /** Rows above were dropped in favour of older ones. */
  #isCut = false;
  #polling: Promise<void> | undefined;

  /** No more rows are kept, in memory or on the page. */
  readonly #maxRows: number;

  constructor(client: Client, { event, chatId }: LogFilter, maxRows = 500) {
    this.#client = client;
    this.#maxRows = maxRows;
    this.#filter = {
      // A name that the server does not know is refused by it, in its words.
      ...(event !== undefined && { events: [event as EventName] }),
      ...(chatId !== undefined && { chat_id: chatId }),
    };
  }

  /** Loads the newest rows. */
  async start(): Promise<void> {
    const { event_id } = await this.#client.chats.list({ limit: 1 });
    this.#cursor = event_id;
    this.#end = event_id + 1;
    this.#isCut = false;
    this.rows.value = await this.#readOlder();
    this.isLoaded.value = true;
  }

  /** Loads what is new, unless the log is paused. Calls at the same time share one request. */
  poll(): Promise<void> {
    if (this.isPaused.value || !this.isLoaded.value) return Promise.resolve();
    this.#polling ??= this.#readNewer().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  /** Loads rows below the last one. If there is no room for them, the newest are dropped, and the log is paused. */
  async older(): Promise<void> {
    const rows = [...this.rows.value, ...(await this.#readOlder())];
    if (rows.length > this.#maxRows) {
      this.#isCut = true;
      this.isPaused.value = true;
    }
    this.rows.value = rows.slice(-this.#maxRows);
  }

  pause(): void {
    this.isPaused.value = true;
  }

  async resume(): Promise<void> {
    this.isPaused.value = false;
    await (this.#isCut ? this.start() : this.poll());
  }

  async #readNewer(): Promise<void> {
    for (let hasMore = true; hasMore && !this.isPaused.value; ) {
      const page = await this.#list(this.#cursor, pageSize);
      if (!page) return this.start();
      this.#cursor = page.next;
      hasMore = page.has_more;
      if (page.events.length === 0) continue;
      const rows = [...page.events.toReversed(), ...this.rows.value];
      this.rows.value = rows.slice(0, this.#maxRows);
      if (rows.length <= this.#maxRows) continue;
      this.#end = this.rows.value.at(-1)?.event_id ?? this.#end;
      this.hasOlder.value = true;
    }
  }

  /** Returns the next rows below the end, the newest first, and moves the end. */
  async #readOlder(): Promise<readonly LoggedEvent[]> {
    const found: LoggedEvent[] = [];
    for (let span = firstSpan; found.length < olderRows && this.#end > 1; ) {
      const from = Math.max(this.#floor ?? 0, this.#end - 1 - span);
      const page = await this.#list(from, pageSize);
      if (!page && this.#floor === undefined) this.#floor = await this.#findFloor();
      else if (!page) {
        if (from === this.#floor) this.#end = from + 1;
        span *= growth;
      } else {
        const events = page.events.filter(({ event_id }) => event_id < this.#end);
        const isWhole = !page.has_more || events.length < page.events.length || page.next >= this.#end - 1;
        if (isWhole) {
          found.push(...events.toReversed());
          this.#end = from + 1;
          span = events.length < olderRows ? span * growth : span;
        } else span = Math.max(pageSize, Math.floor(span / growth));
      }
      if (this.#end <= (this.#floor ?? 0) + 1) break;
    }
    this.hasOlder.value = this.#end > (this.#floor ?? 0) + 1;
    return found;
  }

  /** Events expire. The oldest one that is left says where. */
  async #findFloor(): Promise<number> {
    const [oldest] = (await this.#list(0, 1))?.events ?? [];
    return Math.max(0, (oldest?.event_id ?? this.#end) - 1);
  }

  /** Returns a page, or undefined if the cursor is too old, or in a gap that a restored backup has left. */
  async #list(after: number, limit: number) {
    try {
      return await this.#client.events.list({ after, limit, ...this.#filter });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'cursor_expired') return undefined;
      throw error;
    }
  }
}
