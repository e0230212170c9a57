import type { EngineName } from '../../../server/test/support/engines.ts';
import { type Nats, startNats } from '../../../server/test/support/nats.ts';
import { startPostgres } from '../../../server/test/support/postgres.ts';
import { quietPort } from '../../../server/test/support/quiet-port.ts';
import { stream } from '../random.ts';
import { type Endpoint, Receiver } from '../receiver.ts';
import { Database } from './database.ts';
import { Nodes } from './nodes.ts';
import { environmentsFor } from './stage.ts';
import { type Endpoints, type Environment, endpointNames, type Trial } from './trial.ts';

/** The servers of a run and what they talk to. */
export interface Servers {
  readonly environments: readonly Environment[];
  readonly database: Database | undefined;
  readonly nats: Nats | undefined;
  readonly nodes: Nodes;
  readonly endpoints: Endpoints;
}

export interface ServersParts {
  readonly engine: EngineName;
  readonly seed: number;
  /** Whether the database waits for the disk. */
  readonly fsync: boolean;
}

/** Starts everything, and has it end with `ends`. */
export async function startServers<S extends string>(
  trial: Trial<S>,
  { engine, seed, fsync }: ServersParts,
  ends: AsyncDisposableStack,
  outOfTime: AbortSignal,
): Promise<Servers> {
  const { nodes: count = 1 } = trial;
  const ground = (await trial.ground?.(ends)) ?? {};
  const { url, database } = engine === 'postgres' ? await startDatabase(fsync, ends) : {};
  const nats = count > 1 ? await startNats() : undefined;
  ends.defer(() => nats?.stop());
  const environments = environmentsFor(count, {
    ...(url !== undefined && { DATABASE_URL: url }),
    ...(nats && { NATS_URL: nats.url }),
    ...ground,
  });
  const databaseLastAway = () => database?.lastAway ?? Number.NEGATIVE_INFINITY;
  const nodes = ends.use(new Nodes({ environments, databaseLastAway }));
  const endpoints: [string, Endpoint][] = [];
  for (const name of endpointNames) {
    const make = (name === 'all' && trial.endpoint) || ((port, random) => new Receiver(port, random));
    const endpoint = ends.use(make(await quietPort(), stream(seed, name)));
    await endpoint.open();
    endpoints.push([name, endpoint]);
  }
  // One after the other: the first makes the tables.
  for (const number of nodes.numbers) await nodes.untilUp(number, outOfTime);
  return { environments, database, nats, nodes, endpoints: Object.fromEntries(endpoints) as unknown as Endpoints };
}

async function startDatabase(fsync: boolean, ends: AsyncDisposableStack) {
  const postgres = await startPostgres({ fsync });
  // Out of time it may be away.
  ends.defer(() => postgres.stop('immediate').catch(() => {}));
  return { url: await postgres.emptyDatabase(), database: new Database(postgres) };
}
