import { SQL } from 'bun';
import { type Postgres, postgresMissing, startPostgres } from '../../server/test/support/postgres.ts';
import type { Outcome } from './outcome.ts';
import { freshEnvironment } from './parley.ts';

export const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

export type EngineName = keyof typeof engineTitles;

/** Makes the environment of one more server, on an empty database. */
export type FreshServer = () => Promise<Record<string, string>>;

/** One for the whole run. A commit is on disk before it is answered. */
let postgres: Promise<Postgres> | undefined;

/** Measures on an engine, or says what is missing. The databases are dropped afterwards: nobody is to clean up in them. */
export async function onEngine(
  engine: EngineName,
  what: string,
  measure: (fresh: FreshServer) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  if (engine === 'sqlite') return measure(async () => freshEnvironment());
  if (postgresMissing) return [{ kind: 'skipped', what, why: postgresMissing }];
  postgres ??= startPostgres({ fsync: true });
  const server = await postgres;
  const made: string[] = [];
  try {
    return await measure(async () => {
      const url = await server.emptyDatabase();
      made.push(url);
      return freshEnvironment(url);
    });
  } finally {
    for (const url of made) await drop(url);
  }
}

async function drop(url: string): Promise<void> {
  const address = new URL(url);
  const database = address.pathname.slice(1);
  address.pathname = '/postgres';
  await using admin = new SQL(address.href, { max: 1 });
  await admin.unsafe(`DROP DATABASE ${database} WITH (FORCE)`);
}
