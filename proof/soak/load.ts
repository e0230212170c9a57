import { pause, waitUntil } from '../harness/wait.ts';
import { type Act, type ActName, acts } from './acts.ts';
import type { Scene } from './scene.ts';

const tickMs = 10;

/** With more calls in flight the server does not keep up. Further ones are left out, and counted. */
const maxInFlight = 300;

/** Every call completes within this time. */
const maxCallMs = 120_000;

/** Failures that are reported one by one. */
export const maxReported = 20;

/** People who act at a fixed rate, whether or not the server is quick to respond. */
export class Load {
  readonly counts: Record<ActName, number>;
  readonly unexpected: string[] = [];
  leftOut = 0;
  failures = 0;
  readonly #scene: Scene;
  readonly #perSecond: number;
  #sendMs: number[] = [];
  #inFlight = 0;

  constructor(scene: Scene, sendsPerSecond: number) {
    this.#scene = scene;
    this.#perSecond = sendsPerSecond;
    this.counts = Object.fromEntries(Object.keys(acts).map((name) => [name, 0])) as Record<ActName, number>;
  }

  /** Returns how long plain sends took since the last call of this. */
  takeSendMs(): number[] {
    const taken = this.#sendMs;
    this.#sendMs = [];
    return taken;
  }

  /** Runs until the end, and returns once every call has completed. */
  async run(end: AbortSignal): Promise<void> {
    const began = performance.now();
    const begun = new Map<ActName, number>();
    for (; !end.aborted; await pause(tickMs, end)) {
      const seconds = (performance.now() - began) / 1_000;
      for (const [name, act] of Object.entries(acts) as [ActName, Act][]) {
        const due = Math.ceil(seconds * this.#perSecond * act.perSend);
        for (let i = begun.get(name) ?? 0; i < due; i++) this.#begin(name, act);
        begun.set(name, due);
      }
    }
    const isDone = await waitUntil(() => this.#inFlight === 0, { ms: maxCallMs });
    if (!isDone) throw new Error(`${this.#inFlight} calls do not complete`);
  }

  #begin(name: ActName, act: Act): void {
    if (this.#inFlight >= maxInFlight) this.leftOut++;
    else {
      this.#inFlight++;
      void this.#act(name, act).finally(() => this.#inFlight--);
    }
  }

  async #act(name: ActName, act: Act): Promise<void> {
    const began = performance.now();
    try {
      if ((await act.run(this.#scene)) === 'idle') return;
      this.counts[name]++;
      if (name === 'send') this.#sendMs.push(performance.now() - began);
    } catch (error) {
      this.failures++;
      if (this.unexpected.length < maxReported) this.unexpected.push(`${name}: ${(error as Error).message}`);
    }
  }
}
