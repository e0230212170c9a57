import type { EngineName } from '../../server/test/support/engines.ts';
import { startNats } from '../../server/test/support/nats.ts';
import { type PrivatePostgres, startPostgres } from '../../server/test/support/postgres.ts';
import { quietPort } from '../../server/test/support/quiet-port.ts';
import { stream } from '../harness/random.ts';
import { type Endpoint, Receiver } from '../harness/receiver.ts';
import { environment, secretKey } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { Nodes } from './nodes.ts';
import { endpointNames, type Scenario, type Scene } from './scenario.ts';

export interface ServersOptions {
  readonly engine: EngineName;
  readonly seed: number;
  /** PostgreSQL waits for the disk. */
  readonly fsync: boolean;
}

/** Starts the servers of a run and what they talk to. Everything ends with `ends`. */
export async function startServers(
  scenario: Scenario,
  { engine, seed, fsync }: ServersOptions,
  ends: AsyncDisposableStack,
  outOfTime: AbortSignal,
): Promise<Pick<Scene, 'environments' | 'database' | 'nats' | 'nodes' | 'endpoints'>> {
  const { nodes: count = 1 } = scenario;
  const own = (await scenario.prepare?.(ends)) ?? {};
  const { url, database } = engine === 'postgres' ? await startDatabase(fsync, ends) : {};
  const nats = count > 1 ? await startNats() : undefined;
  ends.defer(() => nats?.stop());
  const shared = {
    PARLEY_SECRET_KEY: secretKey(),
    LOG_FORMAT: 'json',
    ...(url !== undefined && { DATABASE_URL: url }),
    ...(nats && { NATS_URL: nats.url }),
    ...own,
  };
  const environments = Array.from({ length: count }, () => environment(shared));
  const nodes = ends.use(new Nodes(environments, () => database?.lastAway() ?? Number.NEGATIVE_INFINITY));
  const endpoints = new Map<string, Endpoint>();
  for (const name of [...endpointNames, ...(scenario.endpoints ?? [])]) {
    const make = (name === 'all' && scenario.endpoint) || ((port, random) => new Receiver(port, random));
    const endpoint = ends.use(make(await quietPort(), stream(seed, name)));
    await endpoint.open();
    endpoints.set(name, endpoint);
  }
  // One after the other: the first makes the tables.
  for (const number of nodes.numbers) await nodes.untilUp(number, outOfTime);
  return { environments, database, nats, nodes, endpoints };
}

async function startDatabase(fsync: boolean, ends: AsyncDisposableStack) {
  const postgres = await startPostgres({ fsync });
  // Out of time it may be away.
  ends.defer(() => postgres.stop('immediate').catch(() => {}));
  return { url: await postgres.emptyDatabase(), database: makeDatabase(postgres) };
}

export type Database = ReturnType<typeof makeDatabase>;

/** The PostgreSQL of the servers, and when it was away. */
function makeDatabase(postgres: PrivatePostgres) {
  let [isAway, lastAway] = [false, Number.NEGATIVE_INFINITY];
  return {
    /** Returns the present if it is away. */
    lastAway: () => (isAway ? performance.now() : lastAway),
    /** `fast` is in order; `immediate` is a crash. */
    restart: async (mode: 'fast' | 'immediate', awayMs: number, end: AbortSignal): Promise<void> => {
      isAway = true;
      await postgres.stop(mode);
      await pause(awayMs, end);
      await postgres.start();
      [isAway, lastAway] = [false, performance.now()];
    },
  };
}
