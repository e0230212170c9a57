import { residentBytes } from '../bench/machine.ts';
import { pause } from '../chaos/pause.ts';
import type { Beside } from './database.ts';
import { type FigureName, figures } from './figures.ts';
import type { Kept } from './kept.ts';
import type { Sample } from './level.ts';
import { handlesOf, waitedSeconds } from './process.ts';
import type { Subject } from './subject.ts';

export interface WatchParts {
  readonly subject: Subject;
  readonly database: Beside;
  readonly everyMs: number;
  readonly messages: () => number;
  /** How long sends took since this was last asked. */
  readonly takeSendMs: () => readonly number[];
}

/** How often everything is collected that nobody holds on to, to see what is left. */
const collectEverySeconds = 30;

/** With fewer sends the slowest of a hundred is none of them. */
const leastSends = 100;

const megabytes = (bytes: number) => bytes / 1_048_576;

/** Measures everything every few seconds, and keeps it all. */
export class Watch {
  readonly figures = new Map<FigureName, Sample[]>();
  readonly kept = new Map<Kept, Sample[]>();
  /** The share of its time that the server waited for its core. */
  readonly waits: Sample[] = [];
  readonly #parts: WatchParts;
  #sendMs: number[] = [];
  #collectedAt = Number.NEGATIVE_INFINITY;
  #waited = { at: 0, seconds: 0 };

  constructor(parts: WatchParts) {
    this.#parts = parts;
    for (const name of Object.keys(figures) as FigureName[]) this.figures.set(name, []);
  }

  /** From now on, until the end. Throws where the server has ended. */
  async run(end: AbortSignal): Promise<void> {
    const began = performance.now();
    // What is built up before the first look is not of the load.
    await this.#parts.subject.inside();
    this.#waited.seconds = waitedSeconds(this.#parts.subject.pid);
    for (let i = 1; !end.aborted; i++) {
      await pause(Math.max(0, began + i * this.#parts.everyMs - performance.now()), end);
      if (!end.aborted) await this.#look((performance.now() - began) / 1_000);
    }
  }

  /** The newest value. */
  last(name: FigureName): number | undefined {
    return this.figures.get(name)?.at(-1)?.value;
  }

  async #look(at: number): Promise<void> {
    const { subject, database, messages } = this.#parts;
    subject.check();
    const [inside, size, kept] = await Promise.all([subject.inside(), database.size(), database.kept()]);
    const { descriptors, sockets, threads } = handlesOf(subject.pid);
    const readings: Readonly<Record<FigureName, number | undefined>> = {
      'resident memory': megabytes(residentBytes(subject.pid) ?? Number.NaN),
      'live JavaScript heap': await this.#heap(at),
      'file descriptors': descriptors,
      sockets,
      threads,
      'bytes of database per message': size.bytes / Math.max(1, messages()),
      'write-ahead log': size.walBytes === undefined ? undefined : megabytes(size.walBytes),
      'p99 of sends': this.#p99(),
      'longest hold-up of the event loop': inside.lagMs,
    };
    for (const [name, value] of Object.entries(readings) as [FigureName, number | undefined][]) {
      if (value !== undefined) this.figures.get(name)?.push({ at, value });
    }
    const waited = { at, seconds: waitedSeconds(subject.pid) };
    this.waits.push({ at, value: (waited.seconds - this.#waited.seconds) / (at - this.#waited.at) });
    this.#waited = waited;
    for (const [name, value] of Object.entries(kept) as [Kept, number][]) {
      const samples = this.kept.get(name) ?? [];
      samples.push({ at, value });
      this.kept.set(name, samples);
    }
  }

  async #heap(at: number): Promise<number | undefined> {
    if (at - this.#collectedAt < collectEverySeconds) return undefined;
    this.#collectedAt = at;
    return megabytes((await this.#parts.subject.held()).heapBytes);
  }

  #p99(): number | undefined {
    this.#sendMs.push(...this.#parts.takeSendMs());
    if (this.#sendMs.length < leastSends) return undefined;
    const sorted = this.#sendMs.sort((a, b) => a - b);
    this.#sendMs = [];
    return sorted[Math.floor(sorted.length * 0.99)];
  }
}
