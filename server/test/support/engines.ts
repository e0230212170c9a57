import { describe } from 'bun:test';
import { temporaryFolder } from './cleanup.ts';
import { postgresMissing, sharedPostgres } from './postgres.ts';

export type EngineName = 'sqlite' | 'postgres';

/** The environment of a server that nobody else uses: its own folder, its own database, a free port. */
export type Environment = Record<string, string>;

export async function freshEnvironment(engine: EngineName): Promise<Environment> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    PARLEY_DATA: temporaryFolder(),
    PARLEY_RATE_LIMIT: 'off',
    LOG_LEVEL: 'off',
    LOG_FORMAT: 'json',
    ...(engine === 'postgres' && { DATABASE_URL: await (await sharedPostgres()).freshDatabase() }),
  };
}

/** Describes behaviour that must hold on both engines. */
export function onBothEngines(name: string, suite: (engine: EngineName) => void): void {
  describe(`${name} (SQLite)`, () => suite('sqlite'));
  onPostgres(name, () => suite('postgres'));
}

/** Describes behaviour that only PostgreSQL can show. */
export function onPostgres(name: string, suite: () => void): void {
  if (postgresMissing) {
    console.warn(`skipped: ${name}. ${postgresMissing}`);
    describe.skip(`${name} (PostgreSQL)`, suite);
  } else {
    describe(`${name} (PostgreSQL)`, suite);
  }
}
