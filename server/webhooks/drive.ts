import type { WebhookId } from '@parley/contract';
import type { BacklogRow } from '../store/backlogs.ts';
import type { OpenDelivery } from '../store/deliveries.ts';
import type { DriveRow } from '../store/drives.ts';
import type { ReplayRow } from '../store/replays.ts';
import type { WebhookRow } from '../store/webhooks.ts';
import { type Health, healthy } from './health.ts';
import { type Entry, entryOf, Lane, laneKey } from './lane.ts';
import type { Use } from './slots.ts';

/** What is read of a webhook to drive it. */
export interface Loaded {
  readonly webhook: WebhookRow;
  readonly drive: DriveRow;
  /** When its access ends; null: never. */
  readonly accessUntil: number | null;
  readonly entries: readonly OpenDelivery[];
  /** Whether its endpoint answered quickly when it last was delivered to. */
  readonly wasQuick: boolean;
  readonly backlogs: readonly BacklogRow[];
  readonly replays: readonly ReplayRow[];
}

/** A webhook that this process drives: its lanes and how its endpoint is doing. */
export class Drive implements Use {
  readonly webhookId: WebhookId;
  leaseNumber: number;
  /** By the process' own steady clock: after that nothing is sent. */
  leaseUntil = 0;
  filled = 0;
  /** The last delivery that is known of it. */
  newest = 0;
  revision = 0;
  webhook: WebhookRow;
  accessUntil: number | null = null;
  health: Health = healthy;
  backlogs: readonly BacklogRow[] = [];
  replays: readonly ReplayRow[] = [];
  readonly userId: number;
  inFlight = 0;
  allowance = 1;
  isDoubtful = false;
  /** It stands in the ring of those that have something to send. */
  inRing = false;
  /** Deliveries with results that are not written down yet, and how many. */
  readonly #unwritten = new Map<number, number>();
  /** While the database is being read: those whose rows may be older than what is known here. */
  #newer: Set<number> | undefined;
  #healthIsNewer = false;
  /** What is known of it may be out of date: it has to be read again. */
  stale = false;
  /** It is being handed over or disabled: what is under way may end, and nothing else begins. */
  halted = false;
  /** Nothing is sent any more: somebody else drives it, or nobody. */
  ended = false;
  lastActive = 0;
  backlogsLookedAt = 0;
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly #monotonic: () => number;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready: Lane[] = [];
  #count = 0;
  /** When the first of the lanes is due that wait for their time. */
  #waitingUntil = Number.POSITIVE_INFINITY;

  constructor(loaded: Loaded, monotonic: () => number) {
    this.#monotonic = monotonic;
    this.webhookId = loaded.webhook.webhook_id;
    this.userId = loaded.webhook.user_id;
    if (loaded.wasQuick && loaded.drive.down_since === null) this.allowance = 2;
    this.webhook = loaded.webhook;
    this.leaseNumber = loaded.drive.lease_number;
  }

  /** Whether it is this process that drives it, at this moment. */
  get isOurs(): boolean {
    return !this.ended && !this.halted && !this.stale && this.leaseUntil > this.#monotonic();
  }

  /** To be called before the database is read. */
  beginLoad(): void {
    this.#newer = new Set(this.#unwritten.keys());
    this.#healthIsNewer = false;
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** There is a result; it is written down later. */
  noteResult(deliveryId: number): void {
    this.#unwritten.set(deliveryId, (this.#unwritten.get(deliveryId) ?? 0) + 1);
    this.#newer?.add(deliveryId);
  }

  noteWritten(deliveryId: number): void {
    const left = (this.#unwritten.get(deliveryId) ?? 1) - 1;
    if (left > 0) this.#unwritten.set(deliveryId, left);
    else this.#unwritten.delete(deliveryId);
  }

  /** Takes in what was read. What has been attempted since the reading began is known better here. */
  load({ webhook, drive, accessUntil, entries, backlogs, replays }: Loaded, now: number): void {
    const { down_since, down_cause, probes, hold_until } = drive;
    this.webhook = webhook;
    this.filled = drive.filled;
    this.revision = drive.revision;
    this.accessUntil = accessUntil;
    this.backlogs = backlogs;
    this.replays = replays;
    if (down_since !== null) this.isDoubtful = true;
    if (!this.#healthIsNewer) this.health = { ...this.health, down_since, down_cause, probes, hold_until };
    // By a clock that was set back since, everything that comes now would be older.
    const { lastSuccessAt, foundDownAt } = this.health;
    const known = { lastSuccessAt: Math.min(lastSuccessAt, now), foundDownAt: Math.min(foundDownAt, now) };
    this.health = { ...this.health, ...known };
    const current = this.#current(entries.map(entryOf));
    this.#newer = undefined;
    this.#ready.length = 0;
    for (const [key, lane] of this.#lanes) {
      lane.queued = false;
      lane.entries.splice(lane.busy ? 1 : 0);
      if (!lane.busy) this.#lanes.delete(key);
    }
    this.#count = 0;
    for (const { entries: kept } of this.#lanes.values()) this.#count += kept.length;
    for (const entry of current) this.#append(entry);
    // The one that was tried longest ago goes first: a probe must not always meet the same event.
    const lanes = [...this.#lanes.values()];
    if (down_since !== null) lanes.sort((a, b) => (a.head?.lastAt ?? 0) - (b.head?.lastAt ?? 0));
    for (const lane of lanes) this.offer(lane, now);
  }

  #current(read: readonly Entry[]): Entry[] {
    const known = new Map<number, Entry>();
    for (const { entries } of this.#lanes.values()) for (const entry of entries) known.set(entry.deliveryId, entry);
    return read.flatMap((entry) => (this.#newer?.has(entry.deliveryId) ? (known.get(entry.deliveryId) ?? []) : entry));
  }

  #lane(entry: Entry): Lane {
    const key = laneKey(entry);
    let lane = this.#lanes.get(key);
    if (!lane) {
      lane = new Lane(entry);
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #append(entry: Entry): Lane {
    const lane = this.#lane(entry);
    this.newest = Math.max(this.newest, entry.deliveryId);
    if (lane.append(entry)) this.#count++;
    return lane;
  }

  add(entries: readonly Entry[], now: number): void {
    for (const entry of entries) this.offer(this.#append(entry), now);
  }

  /** The first of a lane is settled. */
  settle(lane: Lane): void {
    lane.entries.shift();
    this.#count--;
  }

  /** All that waits, in whatever lane. */
  get count(): number {
    return this.#count;
  }

  setHealth(health: Health, now: number): void {
    const isUpAgain = this.health.down_since !== null && health.down_since === null;
    this.health = health;
    this.#healthIsNewer = true;
    // While it was down, lanes that wait for their own time were among those that a probe may be taken from.
    if (!isUpAgain) return;
    for (const lane of this.#ready.splice(0)) lane.queued = false;
    for (const lane of this.#lanes.values()) this.offer(lane, now);
  }

  /** Puts a lane among those that can go on, if it can. An empty one is forgotten. */
  offer(lane: Lane, now: number): void {
    const { head } = lane;
    if (!head && !lane.busy) this.#lanes.delete(laneKey(lane));
    if (!head || lane.busy || lane.queued) return;
    if (head.nextAt > now && this.health.down_since === null) {
      this.#waitingUntil = Math.min(this.#waitingUntil, head.nextAt);
      return;
    }
    lane.queued = true;
    this.#ready.push(lane);
  }

  /** Looks again at the lanes that wait for their time, once that may have come. */
  offerDue(now: number): void {
    if (this.#waitingUntil > now) return;
    this.#waitingUntil = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) this.offer(lane, now);
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  takeReady(): Lane | undefined {
    const lane = this.#ready.shift();
    if (lane) lane.queued = false;
    return lane;
  }

  isHeld(now: number): boolean {
    return this.health.hold_until !== null && this.health.hold_until > now;
  }

  /** When there is next something to send; undefined: there is nothing. */
  nextTime(now: number): number | undefined {
    let next: number | undefined;
    for (const { head, busy } of this.#lanes.values()) {
      if (!head || busy) continue;
      const at = this.health.down_since === null ? Math.max(head.nextAt, now) : now;
      if (next === undefined || at < next) next = at;
    }
    return next === undefined ? undefined : Math.max(next, this.health.hold_until ?? 0);
  }

  get laneCount(): number {
    return this.#lanes.size;
  }

  /** Deliveries in lanes that wait for nothing but their turn. */
  countMoving(now: number): number {
    let count = 0;
    for (const lane of this.#lanes.values()) if (!isStuck(lane, now)) count += lane.entries.length;
    return count;
  }

  /** Lanes that wait for their first delivery to be tried again, with many more behind it. */
  stuckLanes(longerThan: number, now: number): Lane[] {
    return [...this.#lanes.values()].filter(
      (lane) => lane.replayId === 0 && isStuck(lane, now) && lane.entries.length > longerThan,
    );
  }

  countInReplay(replayId: number): number {
    let count = 0;
    for (const lane of this.#lanes.values()) if (lane.replayId === replayId) count += lane.entries.length;
    return count;
  }

  laneOf(chatId: number): Lane | undefined {
    return this.#lanes.get(laneKey({ chatId, replayId: 0 }));
  }
}

export const isStuck = ({ head, busy }: Lane, now: number): boolean => !busy && head !== undefined && head.nextAt > now;
