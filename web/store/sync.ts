import { ApiError, type Client, type EventIterator, type Streamed } from '@parley-chat/sdk';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { typingPause } from '../lib/typing-pause.ts';
import { apply } from './apply.ts';
import type { Loader } from './loader.ts';
import type { Store } from './store.ts';
import type { Report, Tabs, TabsListener } from './tabs.ts';

export interface SyncDeps {
  readonly store: Store;
  readonly client: Client;
  readonly loader: Loader;
  readonly tabs: Tabs;
  readonly now: () => number;
  readonly newId: () => string;
  /** Called with each cursor once the store has everything up to it. */
  readonly reached: (cursor: number) => void;
  /** Called each time the connection is back and the list is up to date. */
  readonly caughtUp: () => void;
  /** Called if the stored state is too old to be continued. */
  readonly expired: () => Promise<void>;
  /** Called once the session has ended. */
  readonly signedOut: () => void;
}

/** The pause after a failure that the stream does not retry itself, such as that of the list. */
const retryMs = 1_500;

/** A call without a response does not make us reconnect again so soon. */
const suspectMs = 5_000;

/** A timer is so late only in a tab whose timers the browser delays. */
const lateMs = 1_000;

/** A new connection has this long to open before another one is tried. */
const patienceMs = 15_000;

/** An event that comes so soon after the last one may have waited for it. */
const closeMs = 100;

/** While events come so close together, they wait for keys only for so long. */
const maxBehindMs = 500;

const gapPageSize = 200;

/**
 * Keeps the store up to date: the list of chats, then every event after it. The tab that leads gets the events from the stream, the
 * others from the leader. Each tab has a cursor of its own, so nothing is lost or repeated when another tab leads.
 */
export class Sync implements TabsListener {
  readonly #deps: SyncDeps;
  /** The store has everything up to it. Undefined without a stored state: then the list is the snapshot. */
  #cursor: number | undefined;
  #isStopped = false;
  /** Aborted when another attempt is to begin. */
  #attempt = new AbortController();
  #openedAt = 0;
  /** When the last event was applied, and the first of those that came close together. */
  #appliedAt = 0;
  #busySince = 0;
  /** When the stream is tried again, if it is lost. */
  #retryAt = 0;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** Starts at a stored cursor, or with the list. Resolves once it is stopped, or with the session. */
  async run(cursor: number | undefined): Promise<void> {
    const { tabs } = this.#deps;
    this.#cursor = cursor;
    await tabs.start(this);
    while (!this.#isStopped) {
      this.#attempt = new AbortController();
      const { signal } = this.#attempt;
      try {
        await (tabs.isLeader ? this.#lead(signal) : this.#listen(signal));
      } catch (error) {
        if (!signal.aborted) await this.#fail(error, signal);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#attempt.abort();
    this.#deps.tabs.stop();
  }

  /** Connects again at once: the network has changed, or the stream may be dead without our noticing. */
  reconnect(): void {
    if (!this.#deps.tabs.isLeader) return;
    this.#lost(patienceMs);
    this.#attempt.abort();
  }

  /** A call got no response. */
  suspect(): void {
    const { tabs, store, now } = this.#deps;
    if (store.connection.value !== 'live') return;
    if (!tabs.isLeader) tabs.suspect();
    else if (now() - this.#openedAt >= suspectMs) this.reconnect();
  }

  roleChanged(): void {
    this.#attempt.abort();
  }

  /** Somebody may look at the tab that asks. The timers of this one may be late. */
  asked(): void {
    const { store, now } = this.#deps;
    if (store.connection.value === 'lost' && now() >= this.#retryAt + lateMs) this.reconnect();
  }

  async #fail(error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof ApiError && error.status === 401) {
      this.stop();
      this.#deps.signedOut();
    } else if (error instanceof ApiError && error.code === 'cursor_expired') {
      this.#cursor = undefined;
      await this.#deps.expired();
    } else {
      this.#lost(retryMs);
      await systemClock.sleep(retryMs, signal).catch(() => {});
    }
  }

  /** Follows the stream, and reports it to the other tabs. Ends with an error. */
  async #lead(signal: AbortSignal): Promise<never> {
    const { store, client, loader, tabs, now, newId } = this.#deps;
    if (store.connection.value === 'live') store.connection.value = 'connecting';
    tabs.report({ state: store.connection.value });
    let isFresh = this.#cursor === undefined;
    // Without a stored state, the list is the snapshot, and the stream starts at its moment.
    const after = this.#cursor ?? (await loader.loadChats());
    let refreshing: Promise<void> = Promise.resolve();
    const stream: EventIterator<Streamed> = client.events({
      after,
      signals: true,
      signal,
      onOpen: () => {
        this.#openedAt = now();
        const cursor = stream.cursor ?? after;
        tabs.report({ connection: newId(), state: 'live', before: cursor, after: cursor });
        refreshing = this.#refresh(isFresh);
        isFresh = false;
        // Its failure is thrown below, before the next event.
        refreshing.catch(() => {});
      },
      onBreak: (_, pauseMs) => this.#lost(pauseMs),
    });
    try {
      await stream.open();
      for (;;) {
        // The list must not overwrite what a later event changed, so events wait for it. A failed list is loaded again.
        await refreshing;
        const before = stream.cursor ?? after;
        this.#reach(before);
        const { value } = await stream.next();
        await refreshing;
        if (!value) continue;
        await this.#untilFree();
        apply(store, value, loader);
        tabs.report({ before, after: stream.cursor ?? before, item: value });
      }
    } finally {
      await stream.return();
    }
  }

  /** Applies what the leader reports. Ends with an error. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { store } = this.#deps;
    /** The connection of the leader that the list is newer than. */
    let connection: string | undefined;
    for await (const report of this.#deps.tabs.reports(signal)) {
      if (report.state !== 'live') {
        store.connection.value = report.state;
        continue;
      }
      if (report.connection !== connection) await this.#catchUp(report, signal);
      connection = report.connection;
      await this.#untilFree();
      await this.#applyReport(report, signal);
    }
  }

  /** Waits until an event holds up no key, unless too many have come. */
  async #untilFree(): Promise<void> {
    const now = performance.now();
    if (now - this.#appliedAt > closeMs) this.#busySince = now;
    if (now - this.#busySince < maxBehindMs) await typingPause();
    this.#appliedAt = performance.now();
  }

  /** The leader has connected. Reading the log also finds out whether our cursor belongs to it, as after a restore. */
  async #catchUp({ before }: Report, signal: AbortSignal): Promise<void> {
    const isFresh = this.#cursor === undefined;
    if (this.#cursor === undefined) this.#reach(await this.#deps.loader.loadChats());
    else await this.#readLog(this.#cursor, before, signal);
    await this.#refresh(isFresh);
  }

  async #applyReport({ before, after, item }: Report, signal: AbortSignal): Promise<void> {
    const { store, loader } = this.#deps;
    if ((this.#cursor ?? 0) < before) await this.#readLog(this.#cursor ?? 0, before, signal);
    const isNew = after > (this.#cursor ?? 0);
    if (item && (isNew || item.event_id === undefined)) apply(store, item, loader);
    if (isNew) this.#reach(after);
  }

  /** Applies the events that are in the log now, up to this cursor at least. */
  async #readLog(from: number, until: number, signal: AbortSignal): Promise<void> {
    const { client, store, loader } = this.#deps;
    for (let after = from, hasMore = true; hasMore; ) {
      const page = await client.events.list({ after, limit: gapPageSize }, { signal });
      for (const event of page.events) apply(store, event as Streamed, loader);
      this.#reach(page.next);
      after = page.next;
      hasMore = page.has_more;
    }
    // The rest concerns other people.
    if ((this.#cursor ?? 0) < until) this.#reach(until);
  }

  /** Read markers of other devices are not in the log, so the list is loaded after every reconnect. */
  async #refresh(isFresh: boolean): Promise<void> {
    const { store, loader, caughtUp } = this.#deps;
    if (!isFresh) await loader.loadChats();
    store.isReady.value = true;
    store.connection.value = 'live';
    loader.threads();
    // The presence of people is not in the log. It is not worth waiting for.
    loader.loadPresence().catch(() => {});
    caughtUp();
  }

  #lost(pauseMs: number): void {
    const { store, tabs, now } = this.#deps;
    this.#retryAt = now() + pauseMs;
    store.connection.value = 'lost';
    tabs.report({ state: 'lost' });
  }

  #reach(cursor: number): void {
    this.#cursor = cursor;
    this.#deps.reached(cursor);
  }
}
