import { pause } from '../chaos/pause.ts';
import { type Act, type ActName, acts } from './acts.ts';
import type { Scene } from './scene.ts';

const tickMs = 10;

/** More than this under way means that the server does not keep up: what is due then is left out, and counted. */
const mostUnderWay = 300;

/** What is under way at the end is answered within this time, or never. */
const answerMs = 120_000;

/** What went wrong is told by its first few. */
const mostTold = 20;

/** People who do what they do at a fixed rate, whether or not the server is quick to answer. */
export class Load {
  readonly counts: Record<ActName, number>;
  readonly unexpected: string[] = [];
  leftOut = 0;
  failures = 0;
  readonly #scene: Scene;
  readonly #perSecond: number;
  #sendMs: number[] = [];
  #underWay = 0;

  constructor(scene: Scene, sendsPerSecond: number) {
    this.#scene = scene;
    this.#perSecond = sendsPerSecond;
    this.counts = Object.fromEntries(Object.keys(acts).map((name) => [name, 0])) as Record<ActName, number>;
  }

  /** How long plain sends took since this was last asked, in milliseconds. */
  takeSendMs(): number[] {
    const taken = this.#sendMs;
    this.#sendMs = [];
    return taken;
  }

  /** Until the end; answers once everything that was begun is answered. */
  async run(end: AbortSignal): Promise<void> {
    const began = performance.now();
    const due = new Map<ActName, number>();
    while (!end.aborted) {
      const seconds = (performance.now() - began) / 1_000;
      for (const [name, act] of Object.entries(acts) as [ActName, Act][]) {
        const asked = Math.ceil(seconds * this.#perSecond * act.perSend);
        for (let i = due.get(name) ?? 0; i < asked; i++) this.#begin(name, act);
        due.set(name, asked);
      }
      await pause(tickMs, end);
    }
    for (const deadline = performance.now() + answerMs; this.#underWay > 0; await Bun.sleep(tickMs)) {
      if (performance.now() > deadline) throw new Error(`${this.#underWay} calls are not answered at all`);
    }
  }

  #begin(name: ActName, act: Act): void {
    if (this.#underWay >= mostUnderWay) {
      this.leftOut++;
      return;
    }
    this.#underWay++;
    void this.#do(name, act).finally(() => this.#underWay--);
  }

  async #do(name: ActName, act: Act): Promise<void> {
    const began = performance.now();
    try {
      if ((await act.run(this.#scene)) === 'idle') return;
      this.counts[name]++;
      if (name === 'send') this.#sendMs.push(performance.now() - began);
    } catch (error) {
      this.failures++;
      if (this.unexpected.length < mostTold) this.unexpected.push(`${name}: ${(error as Error).message}`);
    }
  }
}
