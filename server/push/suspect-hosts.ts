/** A host is suspect after so many attempts without a response, and without a response between them. */
const maxFailures = 5;

/** For so long a suspect host gets nothing. */
const pauseMs = 30_000;

interface Failures {
  count: number;
  /** By the monotonic clock. */
  lastAt: number;
}

/** Knows the hosts that do not respond, so that pushes to them do not wait in memory. */
export class SuspectHosts {
  readonly #monotonic: () => number;
  readonly #failures = new Map<string, Failures>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Records whether an attempt at the host got a response. */
  record(host: string, hasResponded: boolean): void {
    if (hasResponded) {
      this.#failures.delete(host);
      return;
    }
    const failures = this.#failures.get(host) ?? { count: 0, lastAt: 0 };
    failures.count++;
    failures.lastAt = this.#monotonic();
    this.#failures.set(host, failures);
  }

  has(host: string): boolean {
    const failures = this.#failures.get(host);
    return failures !== undefined && failures.count >= maxFailures && !this.#isOver(failures);
  }

  /** Returns the suspect hosts, and forgets those whose last failure is long ago. */
  current(): string[] {
    for (const [host, failures] of this.#failures) if (this.#isOver(failures)) this.#failures.delete(host);
    return [...this.#failures.keys()].filter((host) => this.has(host));
  }

  #isOver({ lastAt }: Failures): boolean {
    return this.#monotonic() - lastAt >= pauseMs;
  }
}
