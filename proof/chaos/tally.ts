import { figure } from '../harness/report.ts';

/** The counts of a scenario, under names of its own, and the breaches that it found. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #notes = new Map<string, string>();
  readonly broken: string[] = [];

  count(what: string, times = 1): void {
    this.#counts.set(what, this.of(what) + times);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Adds a row that is no count, such as a ratio. */
  note(what: string, text: string): void {
    this.#notes.set(what, text);
  }

  breach(line: string): void {
    this.broken.push(line);
  }

  get rows(): string[][] {
    return [...[...this.#counts].map(([what, count]) => [what, figure(count)]), ...this.#notes];
  }
}
