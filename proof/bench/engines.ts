import { SQL } from 'bun';
import { type Postgres, postgresMissing, startPostgres } from '../../server/test/support/postgres.ts';
import { environment } from '../harness/stage.ts';
import type { Outcome } from './outcome.ts';
import { Parley } from './parley.ts';
import type { Plan } from './plan.ts';

const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

export type EngineName = keyof typeof engineTitles;

/** The engine of a measurement, and servers on it. */
export interface Ground {
  readonly engine: EngineName;
  /** The name of the engine for people. */
  readonly title: string;
  /** Returns the environment of a further server, on an empty database. */
  readonly fresh: () => Promise<Record<string, string>>;
  /** Starts a further server on an empty database. */
  readonly start: () => Promise<Parley>;
}

export type EngineMeasure = (ground: Ground, plan: Plan) => Promise<Outcome[]>;

/** One for the whole run. A commit is on disk before the response. */
let postgres: Promise<Postgres> | undefined;

/** Measures on an engine, or reports that it is missing. Drops the databases afterwards, so that no autovacuum runs in them. */
export async function onEngine(
  engine: EngineName,
  name: string,
  measure: EngineMeasure,
  plan: Plan,
): Promise<Outcome[]> {
  const title = engineTitles[engine];
  const ground = (fresh: Ground['fresh']): Ground => {
    return { engine, title, fresh, start: async () => Parley.start(await fresh()) };
  };
  if (engine === 'sqlite')
    return measure(
      ground(async () => environment()),
      plan,
    );
  if (postgresMissing) return [{ kind: 'skipped', what: `${name}, ${title}`, why: postgresMissing }];
  postgres ??= startPostgres({ fsync: true });
  const server = await postgres;
  const made: string[] = [];
  const fresh = async () => {
    const url = await server.emptyDatabase();
    made.push(url);
    return environment({ DATABASE_URL: url });
  };
  try {
    return await measure(ground(fresh), plan);
  } finally {
    for (const url of made) await drop(url);
  }
}

async function drop(database: string): Promise<void> {
  const url = new URL(database);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  await using admin = new SQL(url.href, { max: 1 });
  await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
}
