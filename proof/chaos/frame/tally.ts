/** What a fault did, counted by its own names, and what it saw that must not be. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #figures: [string, string][] = [];
  readonly broken: string[] = [];

  count(what: string, times = 1): void {
    this.#counts.set(what, this.of(what) + times);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Something that is told as it is, such as a ratio. */
  tell(what: string, figure: string): void {
    this.#figures.push([what, figure]);
  }

  breach(line: string): void {
    this.broken.push(line);
  }

  rows(figure: (count: number) => string): [string, string][] {
    return [...[...this.#counts].map(([what, count]): [string, string] => [what, figure(count)]), ...this.#figures];
  }
}
