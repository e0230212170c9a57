import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import { pick, type Random } from '../random.ts';
import { NodeLife } from './node.ts';
import type { Environment } from './trial.ts';

/** Before a node that could not start is started again. */
const againMs = 200;

export interface NodesParts {
  readonly environments: readonly Environment[];
  /** When the database was last away: now, where it is away at present. */
  readonly databaseLastAway: () => number;
}

/** Equal nodes on one database, of which any may be away. */
export class Nodes implements AsyncDisposable {
  readonly #parts: NodesParts;
  readonly #lives: (NodeLife | undefined)[];
  readonly counts = { starts: 0, startsWithoutDatabase: 0 };
  /** What nodes did that they must not do. */
  readonly broken: string[] = [];
  /** Lines of their logs about what should not happen. */
  readonly faults: string[] = [];

  constructor(parts: NodesParts) {
    this.#parts = parts;
    this.#lives = parts.environments.map(() => undefined);
  }

  get numbers(): number[] {
    return [...this.#lives.keys()];
  }

  /** Those that serve at this moment. */
  get up(): NodeLife[] {
    return this.#lives.filter((life) => life?.state === 'up') as NodeLife[];
  }

  /** One that serves, and another one than the last where there is a choice; waits until there is one. */
  async any(random: Random, end: AbortSignal, last?: NodeLife): Promise<NodeLife> {
    for (;;) {
      end.throwIfAborted();
      const [first, ...rest] = this.up;
      if (first) {
        const others = [first, ...rest].filter((life) => life !== last);
        return pick(random, [others[0] ?? first, ...others.slice(1)]);
      }
      await pause(20, end);
    }
  }

  /** Begins a life, which need not come to listen. */
  begin(number: number): NodeLife {
    const life = new NodeLife(this.#parts.environments[number] ?? {}, this.faults);
    this.#lives[number] = life;
    this.counts.starts++;
    return life;
  }

  /** Answers once the node listens. Where the database is away it may not, and is started again, as a supervisor would. */
  async untilUp(number: number, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const life = this.#lives[number] ?? this.begin(number);
      if (await life.isUp()) return;
      if (this.#parts.databaseLastAway() < life.began) this.broken.push(`a node did not start: ${life.said}`);
      else this.counts.startsWithoutDatabase++;
      await pause(againMs, end);
      this.begin(number);
    }
  }

  async kill(number: number): Promise<void> {
    const life = this.#noticeEnd(number);
    this.#lives[number] = undefined;
    if (!life) return;
    await life.kill();
  }

  async stop(number: number): Promise<void> {
    const life = this.#noticeEnd(number);
    if (!life) return;
    // One that is told so while it starts may find no database to start on.
    const wasUp = life.state === 'up';
    const inOrder = await life.stop(hangMs);
    if (!inOrder && wasUp) this.broken.push(`a node did not stop in order within ${hangMs / 1_000} s: ${life.said}`);
    this.#lives[number] = undefined;
  }

  /** The life of a node, if it goes on: one that served and ended by itself should not have. */
  #noticeEnd(number: number): NodeLife | undefined {
    const life = this.#lives[number];
    if (life?.state !== 'ended') return life;
    if (life.wasUp) this.broken.push(`a node ended by itself: ${life.said}`);
    this.#lives[number] = undefined;
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#lives.map((life) => life?.kill()));
  }
}
