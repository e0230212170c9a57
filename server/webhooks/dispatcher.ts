import { allChats, backlogsAmong } from '../store/backlogs.ts';
import { insertPending, type NewDelivery } from '../store/deliveries.ts';
import { countDeliveries, type EndpointStateRow } from '../store/endpoint-state.ts';
import type { Engine, Tx } from '../store/engine.ts';
import { type EventHead, headsAfter, logTip, moveCursor } from '../store/events.ts';
import { lockWebhooks, readPosition } from '../store/webhooks.ts';
import { Audience } from './audience.ts';
import { createdDelivery, type QueuedDelivery } from './chat-queue.ts';

/** Events in one step. */
const mostEvents = 1_024;

/** Deliveries in one step, as far as a single event does not make more: others wait while they are written. */
const mostMatched = 2_000;

/** While nothing matches, the cursor is written down this often: it is only for the next start. */
const lazyEvents = 10_000;

/** What a step has made of the log. */
export interface Dispatched {
  /** The deliveries that this process is to make, with the state of the webhook that they are for. */
  readonly made: readonly CreatedDeliveries[];
  /** They were made after this moment of the steady clock. */
  readonly since: number;
  readonly more: boolean;
  /** Another process has made deliveries of these events, and some of them may be for this one to make. */
  readonly overtaken: boolean;
}

const nothing: Dispatched = { made: [], since: 0, more: false, overtaken: false };

/**
 * Turns the event log into deliveries, after the commit and never in the transaction of a send. Where several processes do
 * so, they take turns under one lock and agree on one cursor. An event that concerns no webhook costs a look.
 */
export class Dispatcher {
  readonly #engine: Engine;
  readonly #owner: string;
  readonly #monotonic: () => number;
  readonly #audience: Audience;
  /** Everything up to here was looked at; the cursor in the database may be behind. */
  #position = 0;
  #written = -1;

  constructor(engine: Engine, owner: string, monotonic: () => number) {
    this.#engine = engine;
    this.#owner = owner;
    this.#monotonic = monotonic;
    this.#audience = new Audience(engine);
  }

  /** Looks at the next events. */
  async step(): Promise<Dispatched> {
    if (this.#written < 0) await this.#catchUp();
    if (this.#audience.isEmpty) return this.#pass();
    const events = await headsAfter(this.#engine, this.#position, mostEvents);
    if (events.length === 0) return nothing;
    if (await this.#audience.refresh()) return this.#goBack();
    const { matched, last } = await this.#match(events);
    const more = events.length === mostEvents || last !== events.at(-1);
    if (!last) return nothing;
    if (matched.length === 0 && last.event_id - this.#written < lazyEvents) {
      this.#position = last.event_id;
      return { ...nothing, more };
    }
    const since = this.#monotonic();
    const made = await this.#write(matched, last.event_id);
    if (made === 'changed' || made === 'overtaken') return { ...nothing, more: true, overtaken: made === 'overtaken' };
    this.#position = last.event_id;
    this.#written = last.event_id;
    return { made, since, more, overtaken: false };
  }

  /** Goes through events until there is enough to write down; answers the last one that it has been through. */
  async #match(events: readonly EventHead[]): Promise<{ matched: NewDelivery[]; last: EventHead | undefined }> {
    const matched: NewDelivery[] = [];
    let last: EventHead | undefined;
    for (const event of events) {
      const { event_id, chat_id, event: name } = event;
      for (const webhook_id of await this.#audience.of(event)) {
        matched.push({ webhook_id, event_id, replay_id: 0, chat_id, event: name });
      }
      last = event;
      if (matched.length >= mostMatched) break;
    }
    return { matched, last };
  }

  /** While nobody is to be told, the end of the log is all that is looked at. */
  async #pass(): Promise<Dispatched> {
    const tip = await logTip(this.#engine);
    if ((await this.#audience.refresh()) && !this.#audience.isEmpty) return this.#goBack();
    this.#position = Math.max(this.#position, tip);
    return nothing;
  }

  /**
   * Who is told what has changed: what was passed because it concerned nobody may concern somebody now. The cursor in the
   * database has not passed it, and what a webhook missed until then is its backlog up to that cursor.
   */
  #goBack(): Dispatched {
    this.#position = this.#written;
    return { ...nothing, more: true };
  }

  /** Begins where the cursor in the database is. */
  async #catchUp(): Promise<void> {
    const { dispatched } = await readPosition(this.#engine);
    this.#written = dispatched;
    this.#position = dispatched;
    this.#audience.forgetChats();
  }

  /** Writes down the cursor that the last steps did not. Answers whether there is something to look at again instead. */
  async settle(): Promise<boolean> {
    if (this.#written < 0 || this.#position === this.#written) return false;
    const position = this.#position;
    if (typeof (await this.#write([], position)) === 'string') return true;
    this.#written = position;
    return false;
  }

  async #write(matched: readonly NewDelivery[], last: number) {
    const version = this.#audience.version;
    const written = await this.#engine.writeSoon(async (tx) => {
      await lockWebhooks(tx);
      const now = await readPosition(tx);
      // Somebody else was here, or changed who is told what: what was matched, or passed, may be wrong by now.
      if (now.dispatched !== this.#written) return 'overtaken' as const;
      if (now.version !== version) return 'changed' as const;
      const wanted = await withoutBacklogged(tx, matched);
      const created = await createDeliveries(tx, this.#owner, wanted);
      await moveCursor(tx, 'webhooks', last);
      return created;
    });
    if (typeof written === 'string') await this.#catchUp();
    return typeof written === 'string' ? written : written.filter(({ state }) => state.owner === this.#owner);
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

/** Leaves out what the log itself holds for now. */
async function withoutBacklogged(tx: Tx, matched: readonly NewDelivery[]): Promise<readonly NewDelivery[]> {
  if (matched.length === 0) return matched;
  const webhookIds = [...new Set(matched.map((row) => row.webhook_id))];
  const backlogs = await backlogsAmong(tx, webhookIds);
  if (backlogs.length === 0) return matched;
  const held = new Set(backlogs.map((row) => `${row.webhook_id} ${row.chat_id}`));
  return matched.filter(
    (row) => !held.has(`${row.webhook_id} ${allChats}`) && !held.has(`${row.webhook_id} ${row.chat_id}`),
  );
}
