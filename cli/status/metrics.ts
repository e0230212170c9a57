/** The samples of Prometheus' text format. */
export class MetricSamples {
  readonly #values = new Map<string, number>();

  constructor(text: string) {
    for (const [, name = '', value = ''] of text.matchAll(/^(\w+(?:\{[^\n]*\})?) (\S+)$/gm)) {
      this.#values.set(name, Number(value));
    }
  }

  /** Returns a sample by name and labels, or undefined if there is none. */
  get(name: string): number | undefined {
    return this.#values.get(name);
  }

  /** Returns the value of a label of the first sample with this name. */
  label(name: string, label: string): string | undefined {
    const found = [...this.#values.keys()].find((key) => key.startsWith(`${name}{`));
    return found && new RegExp(`[{,]${label}="([^"]*)"`).exec(found)?.[1];
  }

  /** Returns the upper bound of the bucket that holds a share of a histogram's values. Undefined if it is empty. */
  quantile(name: string, share: number): number | undefined {
    const count = this.get(`${name}_count`) ?? 0;
    if (count === 0) return undefined;
    const buckets = [...this.#values].flatMap(([key, below]) => {
      const bound = key.startsWith(`${name}_bucket{`) && /le="([^"]+)"/.exec(key)?.[1];
      return bound ? [{ bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), below }] : [];
    });
    return buckets.sort((a, b) => a.bound - b.bound).find(({ below }) => below >= count * share)?.bound;
  }
}
