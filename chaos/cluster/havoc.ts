import type { Nats } from '../../server/test/support/nats.ts';
import type { PrivatePostgres } from '../../server/test/support/postgres.ts';
import { pause } from '../pause.ts';
import type { Nodes } from './nodes.ts';
import type { DatabaseOutage, Outage, PlannedLife, Schedule } from './schedule.ts';

/** The database of the nodes, and when it was away. */
export class Database {
  readonly #postgres: PrivatePostgres;
  #isAway = false;
  #lastAway = Number.NEGATIVE_INFINITY;
  readonly counts = { fast: 0, immediate: 0 };

  constructor(postgres: PrivatePostgres) {
    this.#postgres = postgres;
  }

  /** Now, where it is away at present. */
  get lastAway(): number {
    return this.#isAway ? performance.now() : this.#lastAway;
  }

  async restart(mode: 'fast' | 'immediate', awayMs: number, end: AbortSignal): Promise<void> {
    this.#isAway = true;
    this.counts[mode]++;
    await this.#postgres.stop(mode);
    await pause(awayMs, end);
    await this.#postgres.start();
    this.#lastAway = performance.now();
    this.#isAway = false;
  }
}

export interface HavocParts {
  readonly schedule: Schedule;
  readonly nodes: Nodes;
  readonly nats: Nats;
  readonly database: Database;
}

/** Everything goes wrong in its own time and without regard to the rest. Afterwards all is up again. */
export async function wreakHavoc({ schedule, nodes, nats, database }: HavocParts, outOfTime: AbortSignal) {
  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const troubles = [
    ...schedule.nodes.map((lives, number) => liveAndDie(nodes, number, lives, end)),
    comeAndGo(nats, schedule.nats, end),
    restart(database, schedule.postgres, end),
  ];
  try {
    await Promise.all(troubles);
  } finally {
    // Where one of them fails, the others are not left behind.
    over.abort();
    await Promise.allSettled(troubles);
  }
  await Promise.all(nodes.numbers.map((number) => nodes.untilUp(number, outOfTime)));
  await restart(database, schedule.crashes, outOfTime);
}

async function liveAndDie(
  nodes: Nodes,
  number: number,
  lives: readonly PlannedLife[],
  end: AbortSignal,
): Promise<void> {
  for (const { since, ms, ends, awayMs } of lives) {
    if (end.aborted) return;
    if (since === 'healthy') await nodes.untilUp(number, end);
    await pause(ms, end);
    await (ends === 'killed' ? nodes.kill(number) : nodes.stop(number));
    await pause(awayMs, end);
    nodes.begin(number);
  }
}

async function comeAndGo(nats: Nats, outages: readonly Outage[], end: AbortSignal): Promise<void> {
  for (const { upMs, awayMs } of outages) {
    await pause(upMs, end);
    if (end.aborted) return;
    await nats.stop();
    await pause(awayMs, end);
    await nats.start();
  }
}

async function restart(database: Database, outages: readonly DatabaseOutage[], end: AbortSignal): Promise<void> {
  for (const { upMs, awayMs, mode } of outages) {
    await pause(upMs, end);
    if (end.aborted) return;
    await database.restart(mode, awayMs, end);
  }
}
