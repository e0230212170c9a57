import type { WebhookId } from '@parley/contract';
import { backlogsOf } from '../store/backlogs.ts';
import { lastDuration, openDeliveries } from '../store/deliveries.ts';
import {
  type DriveRow,
  findDrive,
  findDue,
  leaseMs,
  releaseAll,
  releaseLease,
  renewLeases,
  takeLease,
} from '../store/drives.ts';
import type { Engine } from '../store/engine.ts';
import { runningReplays } from '../store/replays.ts';
import { accessEnd, findWebhook } from '../store/webhooks.ts';
import { Drive, type Loaded } from './drive.ts';
import type { Entry } from './lane.ts';
import { slowMs } from './slots.ts';

export interface FleetParts {
  readonly engine: Engine;
  /** Names this process in the leases that it holds. */
  readonly owner: string;
  readonly now: () => number;
  /** A webhook is known, or known better. */
  readonly attend: (drive: Drive) => void;
  /** Whether a webhook that has nothing to send is to be kept nevertheless. */
  readonly isWanted: (drive: Drive) => boolean;
  /** Sees to it that the results so far are in the database. */
  readonly writeDown: () => Promise<void>;
  readonly failed: (cause: unknown) => void;
}

/** A webhook without anything to do is let go after this time. */
const lingerMs = 3_000;

/** What is due later than this is found by a look at the database. */
export const aheadMs = 10_000;

/** Webhooks that one look takes up. */
const mostTaken = 200;

/** One that changes while it is being read is read again after this time. */
const againMs = 5;

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

  /** Deliveries were made for a webhook whose lease is ours. */
  accept(row: DriveRow, entries: readonly Entry[]): void {
    const drive = this.#drives.get(row.webhook_id);
    if (drive && drive.leaseNumber !== row.lease_number) this.lose(drive);
    if (!drive || drive.ended) {
      this.#load(row);
      return;
    }
    const isNext = drive.filled + entries.length === row.filled && drive.revision === row.revision;
    if (!isNext || drive.stale || this.#loading.has(row.webhook_id)) {
      this.reload(drive);
      return;
    }
    drive.filled = row.filled;
    drive.leaseUntil = performance.now() + leaseMs;
    drive.add(entries, this.#parts.now());
    this.#parts.attend(drive);
  }

  /** Holds on to what is driven, takes up what is due, and lets go of what is not. */
  async look(): Promise<void> {
    const { engine, owner, now } = this.#parts;
    if (this.#mayHold) await this.#renew();
    for (const webhookId of await findDue(engine, now(), mostTaken)) {
      const row = await engine.writeSoon((tx) => takeLease(tx, webhookId, owner));
      if (row) this.#load(row);
    }
    await Promise.all(this.#loading.values());
    for (const drive of this.#drives.values()) if (this.#isIdle(drive)) await this.#letGo(drive);
  }

  async #renew(): Promise<void> {
    const renewed = performance.now();
    const rows = await this.#parts.engine.writeSoon((tx) => renewLeases(tx, this.#parts.owner));
    const held = new Map(rows.map((row) => [row.webhook_id, row]));
    this.#mayHold = rows.length > 0;
    // One that could not be read when its lease was taken.
    for (const row of rows) if (!this.#drives.has(row.webhook_id)) this.#load(row);
    for (const drive of this.#drives.values()) {
      const row = held.get(drive.webhookId);
      if (row?.lease_number !== drive.leaseNumber) {
        this.lose(drive);
        continue;
      }
      drive.leaseUntil = renewed + leaseMs;
      if (row.revision !== drive.revision || row.filled !== drive.filled) this.reload(drive);
      else this.#parts.attend(drive);
    }
  }

  #isIdle(drive: Drive): boolean {
    const isBusy = drive.inFlight > 0 || drive.hasUnwritten || drive.stale || this.#loading.has(drive.webhookId);
    if (isBusy) return false;
    if (drive.webhook.status !== 'active') return true;
    const now = this.#parts.now();
    const next = drive.nextTime(now);
    const isSoon = next !== undefined && next < now + aheadMs;
    return !isSoon && performance.now() - drive.lastActive > lingerMs && !this.#parts.isWanted(drive);
  }

  async #letGo(drive: Drive): Promise<void> {
    const { engine, owner, now } = this.#parts;
    const dueAt = drive.webhook.status === 'active' ? nextLook(drive, now()) : null;
    const row = {
      webhook_id: drive.webhookId,
      lease_number: drive.leaseNumber,
      filled: drive.filled,
      revision: drive.revision,
    };
    if (await engine.writeSoon((tx) => releaseLease(tx, owner, row, dueAt))) this.lose(drive);
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
    this.#load({ webhook_id: drive.webhookId, lease_number: drive.leaseNumber });
  }

  #load(lease: Pick<DriveRow, 'webhook_id' | 'lease_number'>): void {
    const webhookId = lease.webhook_id;
    this.#mayHold = true;
    if (this.#closed || this.#loading.has(webhookId)) return;
    const loading = this.#take(lease)
      .catch((cause) => {
        this.#parts.failed(cause);
        const drive = this.#drives.get(webhookId);
        if (drive) drive.stale = true;
      })
      .finally(() => {
        this.#loading.delete(webhookId);
        const drive = this.#drives.get(webhookId);
        if (drive?.stale) setTimeout(() => !drive.ended && this.reload(drive), againMs);
        else if (drive) this.#parts.attend(drive);
      });
    this.#loading.set(webhookId, loading);
  }

  async #take({ webhook_id, lease_number }: Pick<DriveRow, 'webhook_id' | 'lease_number'>): Promise<void> {
    const taken = performance.now();
    const known = this.#drives.get(webhook_id);
    if (known) known.stale = false;
    if (known?.hasUnwritten) await this.#parts.writeDown();
    known?.beginLoad();
    const loaded = await this.#read(webhook_id);
    if (loaded?.drive.lease_number !== lease_number || loaded.drive.owner !== this.#parts.owner) {
      if (known) this.lose(known);
      return;
    }
    const drive = known ?? new Drive(loaded);
    drive.load(loaded, this.#parts.now());
    if (known) return;
    drive.leaseUntil = taken + leaseMs;
    drive.lastActive = performance.now();
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

  /** Gives back every lease: to whoever is left. */
  async release(): Promise<void> {
    await this.#parts.engine.write((tx) => releaseAll(tx, this.#parts.owner));
  }
}
