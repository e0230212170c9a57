import type { EngineName } from '../../server/test/support/engines.ts';
import { type Nats, natsMissing } from '../../server/test/support/nats.ts';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import type { Environment } from '../harness/child.ts';
import { type Random, stream } from '../harness/random.ts';
import { type Endpoint, Receiver } from '../harness/receiver.ts';
import type { Stage } from '../harness/stage.ts';
import { hangMs, pause, waitUntil } from '../harness/wait.ts';
import { makeOwner, type WebhookOwner } from '../harness/webhooks.ts';
import type { Calls } from './calls.ts';
import type { RunEvidence } from './evidence.ts';
import type { Nodes } from './nodes.ts';
import type { Database } from './servers.ts';
import type { Tally } from './tally.ts';
import type { Traffic } from './traffic.ts';

/** A number that a scenario takes on the command line. */
export interface Setting {
  readonly summary: string;
  readonly fallback: number;
}

/** The endpoints for the events of all chats, of a guest, and of one chat. A scenario may add some for all events. */
export const endpointNames = ['all', 'guest', 'one chat'] as const;

/** Everything that a scenario can use while people write. */
export interface Scene {
  readonly seed: number;
  readonly engine: EngineName;
  /** The minimum time that people write. */
  readonly ms: number;
  readonly nodes: Nodes;
  readonly environments: readonly Environment[];
  /** Undefined on SQLite. */
  readonly database: Database | undefined;
  readonly nats: Nats | undefined;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly stage: Stage;
  readonly calls: Calls;
  readonly traffic: Traffic;
  readonly tally: Tally;
}

export function endpointOf({ endpoints }: Scene, name: string): Endpoint {
  const endpoint = endpoints.get(name);
  if (!endpoint) throw new Error(`there is no endpoint ${name}`);
  return endpoint;
}

export function receiverOf(scene: Scene, name: string): Receiver {
  const endpoint = endpointOf(scene, name);
  if (!(endpoint instanceof Receiver)) throw new Error(`the endpoint ${name} is not in this process`);
  return endpoint;
}

/** The owner of the webhooks, who calls whichever server is up. */
export const webhookOwner = ({ calls, stage, tally }: Scene, user = stage.owner): WebhookOwner =>
  makeOwner(
    (name, input, end) => calls.insist(user, name, input, end),
    () => tally.count('waits of webhooks cut short, as their owners can'),
  );

/** Hurries a webhook every few seconds. Otherwise an endpoint that keeps failing would soon be left alone for minutes. */
export async function hurryNowAndThen(scene: Scene, url: string, end: AbortSignal): Promise<void> {
  const random = stream(scene.seed, 'hurries');
  const owner = webhookOwner(scene);
  while (!end.aborted) {
    await pause(1_000 + 3_000 * random(), end);
    await owner.hurryAll(end, url).catch((error) => {
      if (!end.aborted) throw error;
    });
  }
}

/** Returns the number of calls that succeed in the next `ms`. It is a breach if none does for long. */
export async function successesWithin({ calls, tally }: Scene, ms: number, end: AbortSignal): Promise<number> {
  const from = calls.answers.length;
  const successes = () => calls.answers.slice(from).filter(({ outcome }) => outcome === 200).length;
  await pause(ms, end);
  const count = successes();
  const hasSucceeded = await waitUntil(() => successes() > 0, { end });
  if (!hasSucceeded && !end.aborted) tally.breach(`no call succeeded within ${(ms + hangMs) / 1_000} s`);
  return count;
}

/** Runs work beside something else, until the signal that the work gets is aborted. Waits for both. */
export async function beside<T>(
  outOfTime: AbortSignal,
  work: (end: AbortSignal) => Promise<unknown>,
  main: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const working = work(end).catch((error: Error) => {
    over.abort();
    if (!outOfTime.aborted && error.name !== 'AbortError') throw error;
  });
  // A failure is reported by the await below.
  working.catch(() => {});
  try {
    return await main(end);
  } finally {
    over.abort();
    await working;
  }
}

/** Returns what else is wrong, once all evidence is there. */
export type Judge = (evidence: RunEvidence) => readonly string[];

type Values<S extends string> = Readonly<Record<S, number>>;

/**
 * A fault. The run sets up servers, people and readers, lets people write during `disturb`, waits
 * until everything has arrived, and checks what must hold under every fault.
 */
export interface Scenario<S extends string = string> {
  readonly summary: string;
  /** The minimum time that people write. */
  readonly seconds: number;
  readonly settings: Readonly<Record<S, Setting>>;
  /** Returns why it cannot run on this engine, if it cannot. */
  readonly inapplicable?: (engine: EngineName) => string | undefined;
  /** The number of servers, 1 by default. Several need PostgreSQL and NATS. */
  readonly nodes?: number;
  /** The number of groups, 4 by default. */
  groups?(settings: Values<S>): number;
  /** Names of further endpoints that receive all events. */
  readonly endpoints?: readonly string[];
  /** Returns further settings of the servers. What has to be undone afterwards goes into `ends`. */
  readonly prepare?: (ends: AsyncDisposableStack) => Promise<Environment>;
  /** Makes the endpoint for all events, if it is not a receiver in this process. */
  readonly endpoint?: (port: number, random: Random) => Endpoint;
  /** When the fault is over, the owners of webhooks retry the waiting deliveries at once. */
  readonly isHurried?: boolean;
  /** Breaks something, and leaves it repaired. */
  disturb(scene: Scene, settings: Values<S>, end: AbortSignal): Promise<Judge | undefined>;
}

/** Returns why a scenario cannot run on an engine, if it cannot. */
export const whyInapplicable = ({ inapplicable }: Scenario, engine: EngineName): string | undefined =>
  (engine === 'postgres' && postgresMissing) || inapplicable?.(engine);

export const onPostgresOnly = (engine: EngineName): string | undefined =>
  engine === 'sqlite' ? 'It does not apply: it happens to a PostgreSQL.' : undefined;

export const onSqliteOnly = (engine: EngineName): string | undefined =>
  engine === 'postgres' ? 'It does not apply: it happens to the files of SQLite.' : undefined;

export const onClusterOnly = (engine: EngineName): string | undefined =>
  engine === 'sqlite' ? 'It does not apply: several servers share a PostgreSQL.' : natsMissing;

export const onLinuxOnly = (): string | undefined =>
  process.platform === 'linux' ? undefined : 'It needs Linux, which tells what a process holds.';
