import { handlesOf, mebibytes, residentBytes, waitedSeconds } from '../harness/machine.ts';
import { pause } from '../harness/wait.ts';
import type { DatabaseProbe } from './database.ts';
import { type FigureName, figures } from './figures.ts';
import type { Load } from './load.ts';
import type { RowName } from './rows.ts';
import type { Scene } from './scene.ts';
import type { Target } from './target.ts';
import type { Sample } from './trend.ts';

export interface WatchDeps {
  readonly target: Target;
  readonly database: DatabaseProbe;
  readonly scene: Scene;
  readonly load: Load;
}

/** The interval of full garbage collections, which show the live heap. */
const collectEverySeconds = 30;

/** With fewer sends there is no 99th percentile. */
const minSends = 100;

/** Takes samples of everything at an interval. */
export class Watch {
  readonly figures = new Map<FigureName, Sample[]>();
  readonly rows = new Map<RowName, Sample[]>();
  /** The share of its time that the server waited for its core. */
  readonly waits: Sample[] = [];
  readonly #deps: WatchDeps;
  #sendMs: number[] = [];
  #collectedAt = Number.NEGATIVE_INFINITY;
  #waited = { at: 0, seconds: 0 };

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    for (const name of Object.keys(figures) as FigureName[]) this.figures.set(name, []);
  }

  /** Runs until the end. Fails if the server ends. */
  async run(everyMs: number, end: AbortSignal): Promise<void> {
    const began = performance.now();
    const { target } = this.#deps;
    // Resets the delay of the event loop, which is not of the load so far.
    await target.selfMetrics();
    this.#waited.seconds = waitedSeconds(target.pid);
    for (let i = 1; !end.aborted; i++) {
      await pause(Math.max(0, began + i * everyMs - performance.now()), end);
      if (!end.aborted) await this.#sample((performance.now() - began) / 1_000);
    }
  }

  /** Returns the newest value. */
  last(name: FigureName): number | undefined {
    return this.figures.get(name)?.at(-1)?.value;
  }

  async #sample(at: number): Promise<void> {
    const { target, database, scene } = this.#deps;
    target.check();
    const [self, size, rows] = await Promise.all([target.selfMetrics(), database.size(), database.rows()]);
    const { descriptors, sockets, threads } = handlesOf(target.pid);
    const values: Readonly<Record<FigureName, number | undefined>> = {
      'resident memory': mebibytes(residentBytes(target.pid) ?? Number.NaN),
      'live JavaScript heap': await this.#heap(at),
      'file descriptors': descriptors,
      sockets,
      threads,
      'bytes of database per message': size.bytes / Math.max(1, scene.acknowledged.size),
      'write-ahead log': size.walBytes === undefined ? undefined : mebibytes(size.walBytes),
      'p99 of sends': this.#p99(),
      'longest delay of the event loop': self.lagMs,
    };
    for (const [name, value] of Object.entries(values) as [FigureName, number | undefined][]) {
      if (value !== undefined) this.figures.get(name)?.push({ at, value });
    }
    const waited = { at, seconds: waitedSeconds(target.pid) };
    this.waits.push({ at, value: (waited.seconds - this.#waited.seconds) / (at - this.#waited.at) });
    this.#waited = waited;
    for (const [name, value] of Object.entries(rows) as [RowName, number][]) {
      this.rows.set(name, [...(this.rows.get(name) ?? []), { at, value }]);
    }
  }

  async #heap(at: number): Promise<number | undefined> {
    if (at - this.#collectedAt < collectEverySeconds) return undefined;
    this.#collectedAt = at;
    return mebibytes((await this.#deps.target.heapMetrics()).heapBytes);
  }

  #p99(): number | undefined {
    this.#sendMs.push(...this.#deps.load.takeSendMs());
    if (this.#sendMs.length < minSends) return undefined;
    const sorted = this.#sendMs.sort((a, b) => a - b);
    this.#sendMs = [];
    return sorted[Math.floor(sorted.length * 0.99)];
  }
}
