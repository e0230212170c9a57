import type { UserId } from '@parley/contract';
import type { MeasureSpace } from '../lib/disk-space.ts';
import type { Metrics } from '../observe/metrics.ts';
import { countPeople } from '../store/access/users.ts';
import type { Engine } from '../store/engine/engine.ts';
import { addSample, countOpenDeliveries, pruneSamples } from '../store/observe/samples.ts';

const minuteMs = 60_000;

/** Samples are kept for so many minutes. */
const keptMinutes = 48 * 60;

/** Open deliveries are counted up to here: 5 ms on SQLite. */
const maxBacklog = 100_000;

interface SamplerDeps {
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** The data folder, and how the space of its disk is measured. */
  readonly folder: string;
  readonly measureSpace: MeasureSpace;
  /** Returns the users who are not offline. */
  readonly present: () => Iterable<UserId>;
}

/**
 * Stores the metrics of each minute when it is over. Every server adds its own, so that the rows are those of all servers. A
 * restart loses what was counted since the last minute.
 */
export class MetricSampler {
  readonly #deps: SamplerDeps;
  #minute: number | undefined;
  #before: Metrics['totals'];

  constructor(deps: SamplerDeps) {
    this.#deps = deps;
    this.#before = deps.metrics.totals;
  }

  /** Stores a sample if a minute is over, and at the start, so that there are figures at once. */
  async step(): Promise<void> {
    const { engine, metrics, now } = this.#deps;
    const minute = Math.floor(now() / minuteMs);
    if (minute === this.#minute) return;
    const totals = metrics.totals;
    const since = (name: keyof typeof totals) => Math.round(totals[name] - this.#before[name]);
    const sample = {
      minute: minute - 1,
      messages: since('messages'),
      requests: since('requests'),
      server_errors: since('serverErrors'),
      first_attempts: since('firstAttempts'),
      first_attempt_lag_ms: since('firstAttemptLagMs'),
      streams: metrics.openStreams,
      ...(await this.#shared()),
    };
    await engine.writeRelaxed(async (tx) => {
      await addSample(tx, sample);
      if (await tx.tryLock('retention of metrics')) await pruneSamples(tx, minute - keptMinutes);
    });
    this.#minute = minute;
    this.#before = totals;
  }

  /** Returns the figures that do not come from this process alone. */
  async #shared() {
    const { engine, folder, measureSpace, present } = this.#deps;
    const { free, total } = await measureSpace(folder);
    return {
      people_online: await countPeople(engine, [...present()]),
      backlog: await countOpenDeliveries(engine, maxBacklog),
      disk_free: free,
      disk_total: total,
    };
  }
}
