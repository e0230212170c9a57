/** How often deadlines are looked at: they are seconds away, and a timer for each attempt would be set twice and cleared. */
const lookMs = 50;

/** An attempt that is cut off at its deadline. */
export interface Limited {
  readonly controller: AbortController;
  /** On the steady clock. */
  deadline: number;
}

export const outOfTime = Symbol('out of time');
export const calledOff = Symbol('called off');

/** Cuts attempts off: each at its deadline, or all of them at once. */
export class Deadlines {
  readonly #monotonic: () => number;
  readonly #open = new Set<Limited>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  begin(ms: number): Limited {
    const limited = { controller: new AbortController(), deadline: this.#monotonic() + ms };
    this.#open.add(limited);
    if (this.#closed) limited.controller.abort(calledOff);
    this.#timer ??= setInterval(() => this.#look(), lookMs);
    return limited;
  }

  end(limited: Limited): void {
    this.#open.delete(limited);
  }

  /** Calls off all attempts, those that are begun later too. */
  close(): void {
    this.#closed = true;
    for (const { controller } of this.#open) controller.abort(calledOff);
  }

  #look(): void {
    const now = this.#monotonic();
    for (const { controller, deadline } of this.#open) if (deadline <= now) controller.abort(outOfTime);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
