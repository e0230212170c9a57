/** Requests of one owner to one host, at endpoints that have not responded with a 2xx yet. */
const maxInFlight = 10;
const maxPerSecond = 20;

interface HostUsage {
  inFlight: number;
  /** When the last requests were started, oldest first. At most `maxPerSecond` of them. */
  readonly starts: number[];
}

/**
 * Limits the requests to endpoints that have not responded with a 2xx yet, by owner and host. Otherwise many webhooks with
 * one URL would turn a message into a flood for a host that wants none of it.
 */
export class HostLimit {
  readonly #monotonic: () => number;
  readonly #hosts = new Map<string, HostUsage>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Returns 0 if a request may start, or the milliseconds to wait; infinite until another request ends. */
  waitMs(key: string): number {
    const usage = this.#hosts.get(key);
    if (!usage) return 0;
    if (usage.inFlight >= maxInFlight) return Number.POSITIVE_INFINITY;
    const [oldest = 0] = usage.starts;
    return usage.starts.length < maxPerSecond ? 0 : Math.max(0, oldest + 1_000 - this.#monotonic());
  }

  take(key: string): void {
    const usage = this.#hosts.get(key) ?? { inFlight: 0, starts: [] };
    usage.inFlight++;
    usage.starts.push(this.#monotonic());
    if (usage.starts.length > maxPerSecond) usage.starts.shift();
    this.#hosts.set(key, usage);
  }

  release(key: string): void {
    const usage = this.#hosts.get(key);
    if (usage) usage.inFlight--;
  }

  /** Forgets hosts that got no request for a second. */
  prune(): void {
    const before = this.#monotonic() - 1_000;
    for (const [key, { inFlight, starts }] of this.#hosts) {
      if (inFlight === 0 && (starts.at(-1) ?? 0) <= before) this.#hosts.delete(key);
    }
  }
}

/** The key of an owner's requests to the host of a URL. The port does not count. */
export const hostKey = (ownerId: number, url: string): string => `${ownerId} ${new URL(url).hostname}`;
