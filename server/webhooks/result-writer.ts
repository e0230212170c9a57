import type { Tx } from '../store/engine/engine.ts';
import { type Result, recordResults } from '../store/webhooks/delivery-results.ts';
import { confirmLeases, type EndpointHealth, setConfirmedUrl, setHealth } from '../store/webhooks/endpoint-state.ts';
import { finishReplays, noteSettled, type Settled } from '../store/webhooks/replays.ts';
import type { DeliveryDeps } from './deps.ts';

/** The result of an attempt, and the lease that it was made under. */
export interface AttemptResult {
  readonly webhookId: number;
  readonly leaseNumber: number;
  readonly replayId: number;
  readonly result: Result;
  /** Set if the endpoint's health has changed. */
  readonly health: EndpointHealth | undefined;
  /** The URL that has responded with a 2xx for the first time. */
  readonly confirmedUrl: string | undefined;
}

type WriteOutcome =
  | 'written'
  /** The lease has changed hands: nothing was written. */
  | 'lease_lost'
  /** The delivery was settled by somebody else during the attempt. */
  | 'superseded';

/** Results wait this long for others, up to this many. */
const gatherMs = 50;
const maxResults = 256;

/** After a failure of the database. */
const retryMs = 1_000;

/**
 * Writes results, many in one transaction. The next delivery of a chat does not wait for that: after a crash a few
 * deliveries are repeated, which begin where the written ones end, so the order of first arrivals holds.
 */
export class ResultWriter {
  readonly #deps: DeliveryDeps;
  #waiting: { attempt: AttemptResult; resolve: (outcome: WriteOutcome) => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  /** Resolves once the result is in the database, or must not be. A failure of the database is retried. */
  write(attempt: AttemptResult): Promise<WriteOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempt, resolve });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#waiting.length >= maxResults) void this.#write();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => void this.#write(), gatherMs);
  }

  /** Resolves once everything is written. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing) await (this.#writing ?? this.#write());
  }

  /** Resolves once an attempt was made to write everything that is known now. */
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
      this.#schedule();
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const attempts = batch.map(({ attempt }) => attempt);
      const { held, written } = await this.#deps.engine.writeRelaxed((tx) => this.#record(tx, attempts));
      for (const { attempt, resolve } of batch) {
        if (!held.has(attempt.webhookId)) resolve('lease_lost');
        else resolve(written.has(attempt.result.delivery_id) ? 'written' : 'superseded');
      }
    } catch (cause) {
      this.#deps.log.write('warn', 'delivery_results_not_written', { cause });
      this.#waiting = [...batch, ...this.#waiting];
      await Bun.sleep(retryMs);
    }
  }

  async #record(tx: Tx, batch: readonly AttemptResult[]) {
    const leases = new Map(batch.map(({ webhookId, leaseNumber }) => [webhookId, leaseNumber]));
    const held = await confirmLeases(tx, this.#deps.owner, [...leases]);
    const ours = batch.filter(
      ({ webhookId, leaseNumber }) => held.has(webhookId) && leaseNumber === leases.get(webhookId),
    );
    const written = await recordResults(
      tx,
      ours.map(({ result }) => result),
    );
    const healths = new Map(ours.flatMap(({ webhookId, health }) => (health ? [[webhookId, health] as const] : [])));
    for (const [webhookId, health] of healths) await setHealth(tx, webhookId, health);
    for (const { webhookId, confirmedUrl } of ours) {
      if (confirmedUrl !== undefined) await setConfirmedUrl(tx, webhookId, confirmedUrl);
    }
    const replayed = ours.filter(({ replayId, result }) => replayId !== 0 && written.has(result.delivery_id));
    if (replayed.length === 0) return { held, written };
    await noteSettled(tx, countSettled(replayed.map(({ replayId, result }) => ({ replayId, state: result.state }))));
    for (const webhookId of new Set(replayed.map(({ webhookId: id }) => id))) {
      await finishReplays(tx, webhookId, this.#deps.now());
    }
    return { held, written };
  }
}

/** Counts settled deliveries by replay. */
export function countSettled(settled: readonly { replayId: number; state: string }[]): Settled[] {
  const byReplay = Map.groupBy(settled, ({ replayId }) => replayId);
  return [...byReplay].map(([replay_id, deliveries]) => {
    const count = (state: string) => deliveries.filter((delivery) => delivery.state === state).length;
    return { replay_id, delivered: count('delivered'), failed: count('failed'), skipped: count('skipped') };
  });
}
