import type { WebhookId } from '@parley/contract';
import { backlogsOf } from '../store/backlogs.ts';
import { lastDuration, openDeliveries } from '../store/deliveries.ts';
import {
  type DriveRow,
  drivesOf,
  findDrive,
  findDue,
  leaseMs,
  openSince,
  passLease,
  releaseAll,
  releaseLease,
  renewLeases,
  takeLease,
} from '../store/drives.ts';
import type { Engine } from '../store/engine.ts';
import { announceNode, forgetNode } from '../store/nodes.ts';
import { runningReplays } from '../store/replays.ts';
import { accessEnd, findWebhook } from '../store/webhooks.ts';
import { Drive, type Loaded } from './drive.ts';
import { type Entry, entryOf } from './lane.ts';
import { handovers } from './shares.ts';
import { slowMs } from './slots.ts';

export interface FleetParts {
  readonly engine: Engine;
  /** Names this process in the leases that it holds. */
  readonly owner: string;
  /** No other process can drive webhooks of this database. */
  readonly alone: boolean;
  readonly now: () => number;
  readonly monotonic: () => number;
  /** A webhook is known, or known better. */
  readonly attend: (drive: Drive) => void;
  /** Whether a webhook that has nothing to send is to be kept nevertheless. */
  readonly isWanted: (drive: Drive) => boolean;
  /** Sees to it that the results so far are in the database. */
  readonly writeDown: () => Promise<void>;
  /** There is something for other processes to take up. */
  readonly passedOn: () => void;
  readonly failed: (cause: unknown) => void;
}

/** A webhook without anything to do is let go after this time. */
const lingerMs = 3_000;

/** What is due later than this is found by a look at the database. */
export const aheadMs = 10_000;

/** Webhooks that one look takes up, or hands over. */
const mostTaken = 200;

/** What is to be handed over stands still for this long at most, until the requests that are under way have ended. */
const patienceMs = 250;

/** One that changes while it is being read is read again after this time. */
const againMs = 5;

/** A lease, and until when it surely lasts by the process' own steady clock: counted from before it was asked for. */
interface Lease extends Pick<DriveRow, 'webhook_id' | 'lease_number'> {
  readonly until: number;
}

const leaseOf = ({ webhookId, leaseNumber }: Drive) => ({ webhook_id: webhookId, lease_number: leaseNumber });

/** When a webhook has to be looked at again; null: not before something happens. */
function nextLook(drive: Drive, now: number): number | null {
  const next = drive.nextTime(now);
  if (next !== undefined) return next;
  const hasMore = drive.backlogs.length > 0 || drive.replays.length > 0;
  return hasMore ? Math.max(drive.health.hold_until ?? 0, now + aheadMs) : null;
}

/** The webhooks that this process drives, each under a lease: they are taken up when there is something to do, and let go. */
export class Fleet {
  readonly #parts: FleetParts;
  readonly #drives = new Map<WebhookId, Drive>();
  readonly #loading = new Map<WebhookId, Promise<void>>();
  /** Whether there may be leases of ours. */
  #mayHold = false;
  #closed = false;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  get laneCount(): number {
    let count = 0;
    for (const { laneCount } of this.#drives.values()) count += laneCount;
    return count;
  }

  /** Deliveries were made, after this moment of the steady clock, for a webhook whose lease is ours. */
  accept(row: DriveRow, entries: readonly Entry[], since: number): void {
    const drive = this.#drives.get(row.webhook_id);
    const until = since + leaseMs;
    if (drive && drive.leaseNumber > row.lease_number) return;
    if (drive && drive.leaseNumber < row.lease_number) this.lose(drive);
    if (!drive || drive.ended) {
      this.#load({ ...row, until });
      return;
    }
    const isNext = drive.filled + entries.length === row.filled && drive.revision === row.revision;
    if (!isNext || drive.stale || this.#loading.has(row.webhook_id)) {
      this.reload(drive);
      return;
    }
    drive.filled = row.filled;
    drive.leaseUntil = Math.max(drive.leaseUntil, until);
    drive.add(entries, this.#parts.now());
    this.#parts.attend(drive);
  }

  /** Holds on to what is driven, takes up what is due, and lets go of what is not. Answers whether there is more to take up. */
  async look(): Promise<boolean> {
    const { engine, owner, alone, now, monotonic } = this.#parts;
    if (this.#mayHold || !alone) await this.#renew();
    const due = await findDue(engine, now(), mostTaken);
    for (const webhookId of due) {
      const until = monotonic() + leaseMs;
      const row = await engine.writeRelaxed((tx) => takeLease(tx, webhookId, owner));
      if (row) this.#load({ ...row, until });
    }
    await Promise.all(this.#loading.values());
    for (const drive of this.#drives.values()) if (this.#isIdle(drive)) await this.#letGo(drive);
    if (!alone && !this.#closed) await this.#share();
    return due.length === mostTaken;
  }

  /** Takes in what other processes have made, or handed over, for webhooks that are driven here. */
  async gather(): Promise<void> {
    const rows = await drivesOf(this.#parts.engine, this.#parts.owner);
    if (rows.every((row) => this.#drives.has(row.webhook_id))) await this.#notice(rows, 0);
    else await this.#renew();
  }

  async #renew(): Promise<void> {
    const since = this.#parts.monotonic();
    const rows = await this.#parts.engine.writeRelaxed((tx) => renewLeases(tx, this.#parts.owner));
    const numbers = new Map(rows.map((row) => [row.webhook_id, row.lease_number]));
    this.#mayHold = rows.length > 0;
    for (const drive of this.#drives.values()) {
      if (numbers.get(drive.webhookId) === drive.leaseNumber) drive.leaseUntil = since + leaseMs;
      else this.lose(drive);
    }
    await this.#notice(rows, since);
  }

  /** Compares what is known of webhooks with what was read of them. */
  async #notice(rows: readonly DriveRow[], since: number): Promise<void> {
    const behind = new Map<DriveRow, Drive>();
    for (const row of rows) {
      const drive = this.#drives.get(row.webhook_id);
      // One that was handed over, or could not be read when its lease was taken.
      if (!drive) this.#load({ ...row, until: since + leaseMs });
      else if (drive.stale || row.revision !== drive.revision) this.reload(drive);
      else if (row.filled > drive.filled) behind.set(row, drive);
      else this.#parts.attend(drive);
    }
    if (behind.size === 0) return;
    const known = [...behind.values()].map(({ webhookId, newest }) => ({ webhook_id: webhookId, delivery_id: newest }));
    const made = Map.groupBy(await openSince(this.#parts.engine, known), (delivery) => delivery.webhook_id);
    for (const [row, drive] of behind) {
      // Meanwhile some may have become known, and more may have been made, of which the row does not tell yet.
      const fresh = (made.get(row.webhook_id) ?? []).filter(({ delivery_id }) => delivery_id > drive.newest);
      const entries = fresh.slice(0, Math.max(0, row.filled - drive.filled)).map(entryOf);
      this.accept(
        row,
        entries.sort((a, b) => a.eventId - b.eventId),
        since,
      );
    }
  }

  /** Hands over what is more than this process' share. Those that have no request under way go first. */
  async #share(): Promise<void> {
    const to = handovers(await announceNode(this.#parts.engine, this.#parts.owner), this.#parts.owner);
    const drives = [...this.#drives.values()]
      .filter((drive) => drive.isOurs && !this.#loading.has(drive.webhookId))
      .sort((a, b) => a.inFlight - b.inFlight || a.lastActive - b.lastActive)
      .slice(0, Math.min(to.length, mostTaken));
    await Promise.all(drives.map((drive, i) => this.#handOver(drive, to[i] ?? '')));
    if (drives.some(({ ended }) => ended)) this.#parts.passedOn();
  }

  async #handOver(drive: Drive, to: string): Promise<void> {
    const { engine, owner, attend, writeDown } = this.#parts;
    drive.halted = true;
    try {
      const deadline = performance.now() + patienceMs;
      while (drive.inFlight > 0 && performance.now() < deadline) await Bun.sleep(5);
      if (drive.hasUnwritten) await writeDown();
      if (drive.inFlight > 0 || drive.hasUnwritten || drive.ended) return;
      if (await engine.writeRelaxed((tx) => passLease(tx, owner, leaseOf(drive), to))) this.lose(drive);
    } catch (cause) {
      // Whose it is now has to be read.
      await this.reread(drive);
      throw cause;
    } finally {
      drive.halted = false;
      attend(drive);
    }
  }

  #isIdle(drive: Drive): boolean {
    const isBusy = drive.inFlight > 0 || drive.hasUnwritten || drive.stale || this.#loading.has(drive.webhookId);
    if (isBusy) return false;
    if (drive.webhook.status !== 'active') return true;
    const now = this.#parts.now();
    const next = drive.nextTime(now);
    const isSoon = next !== undefined && next < now + aheadMs;
    return !isSoon && this.#parts.monotonic() - drive.lastActive > lingerMs && !this.#parts.isWanted(drive);
  }

  async #letGo(drive: Drive): Promise<void> {
    const { engine, owner, now } = this.#parts;
    const dueAt = drive.webhook.status === 'active' ? nextLook(drive, now()) : null;
    const row = { ...leaseOf(drive), filled: drive.filled, revision: drive.revision };
    if (await engine.writeRelaxed((tx) => releaseLease(tx, owner, row, dueAt))) this.lose(drive);
    else this.reload(drive);
  }

  /** Forgets a webhook: somebody else drives it, or nobody needs to. */
  lose(drive: Drive): void {
    drive.ended = true;
    clearTimeout(drive.timer);
    if (this.#drives.get(drive.webhookId) === drive) this.#drives.delete(drive.webhookId);
  }

  /** Reads a webhook again, because what is known of it is out of date. */
  reload(drive: Drive): void {
    drive.stale = true;
    this.#load({ ...leaseOf(drive), until: drive.leaseUntil });
  }

  /** The same; answers once it was read. What was under way before may still have seen what is no longer so. */
  async reread(drive: Drive): Promise<void> {
    await this.#loading.get(drive.webhookId);
    this.reload(drive);
    await this.#loading.get(drive.webhookId);
  }

  #load(lease: Lease): void {
    const webhookId = lease.webhook_id;
    this.#mayHold = true;
    if (this.#closed || this.#loading.has(webhookId)) return;
    const loading = this.#take(lease)
      .then(() => true)
      .catch((cause) => {
        this.#parts.failed(cause);
        return false;
      })
      .then((isRead) => {
        this.#loading.delete(webhookId);
        const drive = this.#drives.get(webhookId);
        // The next look tries again: a database that is away is not asked all the time.
        if (drive && !isRead) drive.stale = true;
        else if (drive?.stale) setTimeout(() => !drive.ended && this.reload(drive), againMs);
        else if (drive) this.#parts.attend(drive);
      });
    this.#loading.set(webhookId, loading);
  }

  async #take({ webhook_id, lease_number, until }: Lease): Promise<void> {
    const known = this.#drives.get(webhook_id);
    if (known) known.stale = false;
    if (known?.hasUnwritten) await this.#parts.writeDown();
    known?.beginLoad();
    const loaded = await this.#read(webhook_id);
    if (loaded?.drive.lease_number !== lease_number || loaded.drive.owner !== this.#parts.owner) {
      if (known) this.lose(known);
      return;
    }
    const drive = known ?? new Drive(loaded, this.#parts.monotonic);
    drive.load(loaded, this.#parts.now());
    if (known) return;
    drive.leaseUntil = until;
    drive.lastActive = this.#parts.monotonic();
    this.#drives.set(webhook_id, drive);
  }

  async #read(webhookId: WebhookId): Promise<Loaded | undefined> {
    const { engine } = this.#parts;
    // First of all, so that whatever is changed in the midst is noticed.
    const drive = await findDrive(engine, webhookId);
    const webhook = await findWebhook(engine, webhookId);
    if (!drive || !webhook) return undefined;
    return {
      drive,
      webhook,
      accessUntil: await accessEnd(engine, webhookId),
      backlogs: await backlogsOf(engine, webhookId),
      replays: await runningReplays(engine, webhookId),
      entries: await openDeliveries(engine, webhookId),
      wasQuick: ((await lastDuration(engine, webhookId)) ?? Number.POSITIVE_INFINITY) <= slowMs,
    };
  }

  /** Nothing more is taken up. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#loading.values());
    for (const drive of this.#drives.values()) clearTimeout(drive.timer);
  }

  /** Nobody is to hand anything over any more. */
  async leave(): Promise<void> {
    if (!this.#parts.alone) await forgetNode(this.#parts.engine, this.#parts.owner).catch(this.#parts.failed);
  }

  /** Gives back every lease: to whoever is left. */
  async release(): Promise<void> {
    await this.#parts.engine.write((tx) => releaseAll(tx, this.#parts.owner));
    this.#parts.passedOn();
  }
}
