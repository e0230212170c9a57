import type { LogEntry, Tx } from '../store/engine/engine.ts';
import { moveCursor } from '../store/log/events.ts';
import { allChats, type BacklogRow, backlogsAmong } from '../store/webhooks/backlogs.ts';
import { insertPending, type NewDelivery } from '../store/webhooks/deliveries.ts';
import { countDeliveries, type EndpointStateRow } from '../store/webhooks/endpoint-state.ts';
import { lockWebhooks, readPosition } from '../store/webhooks/webhooks.ts';
import { createdDelivery, type QueuedDelivery } from './chat-queue.ts';
import type { DeliveryDeps } from './deps.ts';
import { SubscriptionIndex } from './subscription-index.ts';

/** Events in one step. */
const maxEvents = 1_024;

/** A step ends with the event that brings its deliveries to this number: other writers wait while they are inserted. */
const maxMatched = 2_000;

/** While nothing matches, the stored cursor moves once in so many events: only the next start needs it. */
const maxUnstoredEvents = 10_000;

/** The result of a step. */
interface Dispatched {
  /** The new deliveries of webhooks that this process holds, with the state of each webhook. */
  readonly made: readonly CreatedDeliveries[];
  /** The events of these deliveries. */
  readonly events: readonly LogEntry[];
  /** The deliveries were inserted after this moment of the monotonic clock. */
  readonly since: number;
  readonly more: boolean;
  /** Another process has dispatched these events, and some of the deliveries may be for this one to send. */
  readonly overtaken: boolean;
}

const nothing: Dispatched = { made: [], events: [], since: 0, more: false, overtaken: false };

/**
 * Creates deliveries from the events in the log, after their commit and never in the transaction of a send. Several
 * processes take turns under one lock and share one cursor. An event that no webhook subscribes to costs no statement.
 */
export class Dispatcher {
  readonly #deps: DeliveryDeps;
  readonly #subscriptions: SubscriptionIndex;
  /** Every event up to here is matched. The stored cursor may be behind. */
  #position = 0;
  /** The cursor in the database; -1 until it is read. */
  #stored = -1;
  /** Whether the subscriptions may have changed since they were read. */
  #isStale = true;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#subscriptions = new SubscriptionIndex(deps.engine, deps.membership);
    deps.membership.addConsumer(() => this.#stored);
  }

  /** The next step reads the subscriptions again, and dispatches the events that were skipped without them. */
  subscriptionsChanged(): void {
    this.#isStale = true;
  }

  /**
   * Dispatches the next events. Changed subscriptions are noticed late, but not too late: a step that creates deliveries
   * or stores the cursor checks them in its transaction.
   */
  async step(): Promise<Dispatched> {
    const { eventLog, membership, monotonic } = this.#deps;
    if (this.#stored < 0) await this.#readCursor();
    if (this.#isStale && (await this.#refresh())) return this.#rewind();
    if (this.#subscriptions.isEmpty) {
      this.#position = Math.max(this.#position, eventLog.tip);
      return nothing;
    }
    const { events, last: upTo } = await eventLog.read(this.#position, maxEvents);
    if (events.length === 0) return nothing;
    await membership.advanceTo(upTo);
    const { matched, last } = await this.#match(events);
    if (!last) return nothing;
    const more = last.event_id < eventLog.tip;
    if (matched.length === 0 && last.event_id - this.#stored < maxUnstoredEvents) {
      this.#position = last.event_id;
      return { ...nothing, more };
    }
    const since = monotonic();
    const made = await this.#write(matched, last.event_id);
    if (typeof made === 'string') return { ...nothing, more: true, overtaken: made === 'overtaken' };
    this.#position = last.event_id;
    this.#stored = last.event_id;
    const ids = new Set(made.flatMap(({ deliveries }) => deliveries.map(({ eventId }) => eventId)));
    return { made, events: events.filter(({ event_id }) => ids.has(event_id)), since, more, overtaken: false };
  }

  /** Matches events until there are enough deliveries. Returns them with the last event that was matched. */
  async #match(events: readonly LogEntry[]): Promise<{ matched: NewDelivery[]; last: LogEntry | undefined }> {
    const matched: NewDelivery[] = [];
    let last: LogEntry | undefined;
    for (const event of events) {
      const { event_id, chat_id, event: name } = event;
      const matching = this.#subscriptions.match(event);
      for (const webhook_id of matching instanceof Promise ? await matching : matching) {
        matched.push({ webhook_id, event_id, replay_id: 0, chat_id, event: name });
      }
      last = event;
      if (matched.length >= maxMatched) break;
    }
    return { matched, last };
  }

  /** Returns whether the subscriptions have changed. */
  async #refresh(): Promise<boolean> {
    this.#isStale = false;
    try {
      return await this.#subscriptions.refresh();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  /**
   * Subscriptions changed: rewinds to the stored cursor, because skipped events may match now. Events before that cursor
   * are in the backlog of a webhook that missed them.
   */
  #rewind(): Dispatched {
    this.#position = this.#stored;
    return { ...nothing, more: true };
  }

  async #readCursor(): Promise<void> {
    const { dispatched } = await readPosition(this.#deps.engine);
    this.#stored = dispatched;
    this.#position = dispatched;
  }

  /** Stores the cursor. Returns whether there are events to dispatch again instead. */
  async settle(): Promise<boolean> {
    if (this.#stored < 0 || this.#position === this.#stored) return false;
    const position = this.#position;
    if (typeof (await this.#write([], position)) === 'string') return true;
    this.#stored = position;
    return false;
  }

  async #write(matched: readonly NewDelivery[], last: number) {
    const { engine, owner } = this.#deps;
    const { version } = this.#subscriptions;
    const written = await engine.writeRelaxed(async (tx) => {
      // All are sent at once. Each sees what was committed before the lock was taken.
      const webhookIds = [...new Set(matched.map((row) => row.webhook_id))];
      const [, now, backlogs] = await Promise.all([
        lockWebhooks(tx),
        readPosition(tx),
        webhookIds.length > 0 ? backlogsAmong(tx, webhookIds) : [],
      ]);
      // Another process dispatched, or subscriptions changed: the matches may be wrong.
      if (now.dispatched !== this.#stored) return 'overtaken' as const;
      if (now.version !== version) return 'changed' as const;
      const wanted = withoutBacklogged(matched, backlogs);
      const [created] = await Promise.all([createDeliveries(tx, owner, wanted), moveCursor(tx, 'webhooks', last)]);
      return created;
    });
    if (written === 'changed') this.#isStale = true;
    if (typeof written === 'string') await this.#readCursor();
    return typeof written === 'string' ? written : written.filter(({ state }) => state.owner === owner);
  }
}

/** New deliveries of one webhook, in the order of their events, and its state, whoever owns it. */
export interface CreatedDeliveries {
  readonly state: EndpointStateRow;
  readonly deliveries: readonly QueuedDelivery[];
}

/** Inserts deliveries and takes the free leases of their webhooks. A delivery that exists is left out. */
export async function createDeliveries(
  tx: Tx,
  owner: string,
  rows: readonly NewDelivery[],
): Promise<CreatedDeliveries[]> {
  const byWebhook = Map.groupBy(await insertPending(tx, rows), (row) => row.webhook_id);
  if (byWebhook.size === 0) return [];
  const counts = [...byWebhook].map(([webhookId, inserted]) => [webhookId, inserted.length] as const);
  return (await countDeliveries(tx, owner, counts)).map((state) => {
    const deliveries = (byWebhook.get(state.webhook_id) ?? []).map(createdDelivery);
    return { state, deliveries: deliveries.sort((a, b) => a.eventId - b.eventId) };
  });
}

/** Leaves out the events of backlogs: they are delivered from the log later. */
function withoutBacklogged(matched: readonly NewDelivery[], backlogs: readonly BacklogRow[]): readonly NewDelivery[] {
  if (backlogs.length === 0) return matched;
  const held = new Set(backlogs.map((row) => `${row.webhook_id} ${row.chat_id}`));
  return matched.filter(
    (row) => !held.has(`${row.webhook_id} ${allChats}`) && !held.has(`${row.webhook_id} ${row.chat_id}`),
  );
}
