import { describe } from 'bun:test';
import { copyFileSync, cpSync, existsSync } from 'node:fs';
import { databaseFile } from '../../store/data-folder/folder.ts';
import { openStore } from '../../store/engine/open.ts';
import { dataFolder } from './cleanup.ts';
import { postgresMissing, sharedPostgres } from './postgres.ts';
import { describeUnless } from './requirements.ts';

export type EngineName = 'sqlite' | 'postgres';

/** Returns the environment of a new server: its own folder and database, and a free port. */
export type Environment = Record<string, string>;

export async function freshEnvironment(engine: EngineName): Promise<Environment> {
  return environment(engine === 'postgres' ? await (await sharedPostgres()).freshDatabase() : undefined);
}

/** The same with an empty database, for a restore or a first start. */
export async function emptyEnvironment(engine: EngineName): Promise<Environment> {
  return environment(engine === 'postgres' ? await (await sharedPostgres()).emptyDatabase() : undefined);
}

/** The same with a copy of the data of a server that has stopped. */
export async function copiedEnvironment({ DATABASE_URL, PARLEY_DATA = '' }: Environment): Promise<Environment> {
  const copy = environment(
    DATABASE_URL === undefined ? undefined : await (await sharedPostgres()).copyDatabase(DATABASE_URL),
  );
  cpSync(PARLEY_DATA, copy.PARLEY_DATA ?? '', { recursive: true });
  return copy;
}

const environment = (databaseUrl: string | undefined): Environment => ({
  HOST: '127.0.0.1',
  PORT: '0',
  PARLEY_DATA: dataFolder(),
  PARLEY_RATE_LIMIT: 'off',
  // Tests hash hundreds of passwords.
  PARLEY_PASSWORD_COST: '8/1',
  LOG_LEVEL: 'off',
  LOG_FORMAT: 'json',
  ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
});

let template: Promise<string> | undefined;

/** Copies a migrated SQLite database into an empty folder. Migrating it there takes twice as long. */
export async function spareMigrating({ DATABASE_URL, PARLEY_DATA = '' }: Environment): Promise<void> {
  if (DATABASE_URL !== undefined || !existsSync(PARLEY_DATA) || existsSync(databaseFile(PARLEY_DATA))) return;
  template ??= migratedFile();
  copyFileSync(await template, databaseFile(PARLEY_DATA));
}

async function migratedFile(): Promise<string> {
  const folder = dataFolder();
  const engine = await openStore({ folder, databaseUrl: undefined, connections: 1 }, Date.now);
  await engine.close();
  return databaseFile(folder);
}

/** `quick`: the tests of `npm test`. `rest`: those that `npm run test:all` adds. Undefined: all. */
const tier = process.env.PARLEY_TEST_TIER as 'quick' | 'rest' | undefined;

/** Describes behaviour that each engine has its own code for: `npm test` runs it on both. */
export function onBothEngines(name: string, suite: (engine: EngineName) => void): void {
  if (tier === 'rest') return;
  describe(`${name} (SQLite)`, () => suite('sqlite'));
  onPostgres(name, () => suite('postgres'));
}

/** Describes behaviour above the store: `npm test` runs it on SQLite, `npm run test:all` on PostgreSQL too. */
export function onAnyEngine(name: string, suite: (engine: EngineName) => void): void {
  if (tier !== 'rest') describe(`${name} (SQLite)`, () => suite('sqlite'));
  if (tier !== 'quick') onPostgres(name, () => suite('postgres'));
}

/** Describes behaviour that only PostgreSQL can show. */
export function onPostgres(name: string, suite: () => void): void {
  describeUnless(postgresMissing, `${name} (PostgreSQL)`, suite);
}
