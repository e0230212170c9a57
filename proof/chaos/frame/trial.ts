import type { EngineName } from '../../../server/test/support/engines.ts';
import type { Nats } from '../../../server/test/support/nats.ts';
import type { Setting } from '../fault.ts';
import type { Random } from '../random.ts';
import type { Endpoint } from '../receiver.ts';
import type { Calls } from './calls.ts';
import type { Database } from './database.ts';
import type { TrialEvidence } from './evidence.ts';
import type { Nodes } from './nodes.ts';
import type { Stage } from './stage.ts';
import type { Tally } from './tally.ts';
import type { Traffic } from './traffic.ts';

/** What a server is started with. */
export type Environment = Readonly<Record<string, string>>;

export const endpointNames = ['all', 'guest', 'one chat'] as const;
export type Endpoints = Readonly<Record<(typeof endpointNames)[number], Endpoint>>;

/** What a fault can lay its hands on while people write. */
export interface Scene {
  readonly seed: number;
  readonly engine: EngineName;
  /** How long people write, at the least. */
  readonly ms: number;
  readonly nodes: Nodes;
  readonly environments: readonly Environment[];
  /** Where the servers share a PostgreSQL. */
  readonly database: Database | undefined;
  readonly nats: Nats | undefined;
  readonly endpoints: Endpoints;
  readonly stage: Stage;
  readonly calls: Calls;
  readonly traffic: Traffic;
  readonly tally: Tally;
}

/** Says what else is wrong, once it is known what became of everything. */
export type Judge = (evidence: TrialEvidence) => readonly string[];

/**
 * A fault by what is its own. The frame sets up the servers, their people and readers, has people write while `wreak` goes on,
 * waits until everything has arrived, and checks what must hold under every fault.
 */
export interface Trial<S extends string = never> {
  readonly summary: string;
  /** How long people write, at the least. */
  readonly seconds: number;
  readonly settings: Readonly<Record<S, Setting>>;
  /** Why it cannot be run on this engine, if it cannot. */
  readonly inapplicable?: (engine: EngineName) => string | undefined;
  /** How many servers there are; one where it is not given. More than one takes PostgreSQL and NATS. */
  readonly nodes?: number;
  /** What the servers stand on: settings beside the usual ones, and what has to go when they have gone. */
  readonly ground?: (ends: AsyncDisposableStack) => Promise<Environment>;
  /** Where all events go, if that is not to be an endpoint in this process. */
  readonly endpoint?: (port: number, random: Random) => Endpoint;
  /** Whether the owners of webhooks have what waits for minutes tried at once when all is well again. */
  readonly isHurried?: boolean;
  /** Breaks something, and leaves it mended. */
  readonly wreak: (scene: Scene, settings: Readonly<Record<S, number>>, end: AbortSignal) => Promise<Judge | undefined>;
}
