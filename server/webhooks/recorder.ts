import { type Result, recordResults } from '../store/delivery-results.ts';
import { confirmLeases, type EndpointHealth, setHealth } from '../store/drives.ts';
import type { Engine, Tx } from '../store/engine.ts';
import { finishReplays, noteSettled, type Settled } from '../store/replays.ts';
import type { Drive } from './drive.ts';

/** What came of an attempt. */
export interface Recorded {
  readonly drive: Drive;
  readonly leaseNumber: number;
  readonly replayId: number;
  readonly result: Result;
  /** Given where the endpoint's health has changed. */
  readonly health: EndpointHealth | undefined;
}

/** Results wait this long for company, at most so many. */
const gatherMs = 5;
const mostResults = 256;

/** After a failure of the database. */
const retryMs = 1_000;

/**
 * Writes down results, many in one transaction. A lane does not wait for that: after a crash a few deliveries are made
 * again, which begin where the written ones end, so the order of first deliveries holds.
 */
export class Recorder {
  readonly #engine: Engine;
  readonly #owner: string;
  readonly #lost: (drive: Drive) => void;
  readonly #overtaken: (drive: Drive) => void;
  readonly #failed: (cause: unknown) => void;
  readonly #now: () => number;
  #waiting: Recorded[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;

  constructor(parts: {
    engine: Engine;
    owner: string;
    now: () => number;
    /** Somebody else drives it by now. */
    lost: (drive: Drive) => void;
    /** Somebody has settled one of its deliveries while it was attempted. */
    overtaken: (drive: Drive) => void;
    failed: (cause: unknown) => void;
  }) {
    this.#engine = parts.engine;
    this.#owner = parts.owner;
    this.#now = parts.now;
    this.#lost = parts.lost;
    this.#overtaken = parts.overtaken;
    this.#failed = parts.failed;
  }

  add(recorded: Recorded): void {
    recorded.drive.noteResult(recorded.result.delivery_id);
    this.#waiting.push(recorded);
    if (this.#waiting.length >= mostResults) void this.#write();
    else this.#timer ??= setTimeout(() => void this.#write(), gatherMs);
  }

  /** Answers once everything that was added is written down. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing) await (this.#writing ?? this.#write());
  }

  /** Answers once everything that was added before is written down, or was tried to be. */
  async catchUp(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  /** One at a time. */
  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length >= mostResults) void this.#write();
      else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#write(), gatherMs);
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const { held, written } = await this.#engine.writeRelaxed((tx) => this.#record(tx, batch));
      for (const { drive, result } of batch) {
        drive.noteWritten(result.delivery_id);
        if (!held.has(drive.webhookId)) this.#lost(drive);
        else if (!written.has(result.delivery_id)) this.#overtaken(drive);
      }
    } catch (cause) {
      this.#failed(cause);
      this.#waiting = [...batch, ...this.#waiting];
      await Bun.sleep(retryMs);
    }
  }

  async #record(tx: Tx, batch: readonly Recorded[]) {
    const leases = new Map(batch.map(({ drive, leaseNumber }) => [drive.webhookId as number, leaseNumber]));
    const held = await confirmLeases(tx, this.#owner, [...leases]);
    const ours = batch.filter(
      ({ drive, leaseNumber }) => held.has(drive.webhookId) && leaseNumber === leases.get(drive.webhookId),
    );
    const written = await recordResults(
      tx,
      ours.map(({ result }) => result),
    );
    const healths = new Map(ours.flatMap(({ drive, health }) => (health ? [[drive.webhookId, health] as const] : [])));
    for (const [webhookId, health] of healths) await setHealth(tx, webhookId, health);
    await this.#settleReplays(
      tx,
      ours.filter(({ result }) => written.has(result.delivery_id)),
    );
    return { held, written };
  }

  async #settleReplays(tx: Tx, recorded: readonly Recorded[]): Promise<void> {
    const replayed = recorded.filter(({ replayId }) => replayId !== 0);
    if (replayed.length === 0) return;
    await noteSettled(tx, countSettled(replayed.map(({ replayId, result }) => ({ replayId, state: result.state }))));
    for (const webhookId of new Set(replayed.map(({ drive }) => drive.webhookId))) {
      await finishReplays(tx, webhookId, this.#now());
    }
  }
}

export function countSettled(settled: readonly { replayId: number; state: string }[]): Settled[] {
  const byReplay = Map.groupBy(settled, ({ replayId }) => replayId);
  return [...byReplay].map(([replay_id, of]) => {
    const count = (state: string) => of.filter((one) => one.state === state).length;
    return { replay_id, delivered: count('delivered'), failed: count('failed'), skipped: count('skipped') };
  });
}
