/** Latencies in steps of 10 µs; what is slower than a second counts as a second. */
export class Histogram {
  readonly #counts = new Uint32Array(100_001);
  #total = 0;

  add(ms: number): void {
    this.#total++;
    const step = Math.min((ms * 100) | 0, 100_000);
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
  }

  quantile(share: number): number {
    let left = this.#total * share;
    const step = this.#counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return step / 100;
  }
}
