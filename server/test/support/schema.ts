import { join } from 'node:path';
import { openStore } from '../../store/engine/open.ts';
import { temporaryFolder } from './cleanup.ts';
import { sharedPostgres } from './postgres.ts';

/** The schema after all migrations, as each engine dumps it. It is committed, so that a change shows in review. */

const folder = join(import.meta.dir, '../../store/schema');
export const schemaFiles = { sqlite: join(folder, 'sqlite.sql'), postgres: join(folder, 'postgres.sql') } as const;

export async function dumpSqlite(): Promise<string> {
  const engine = await openStore({ folder: temporaryFolder(), databaseUrl: undefined, connections: 2 }, Date.now);
  const rows = await engine.all<{ sql: string }>(
    `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'message!_words!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
  );
  await engine.close();
  return `${rows
    .map((row) => `${row.sql.trim()};`)
    .join('\n\n')
    .replace(/ +$/gm, '')}\n`;
}

/** Returns the output of pg_dump without its version, owner and settings. */
export async function dumpPostgres(): Promise<string> {
  const postgres = await sharedPostgres();
  const url = await postgres.emptyDatabase();
  const engine = await openStore({ folder: temporaryFolder(), databaseUrl: url, connections: 2 }, Date.now);
  await engine.close();
  const dump = Bun.spawn([join(postgres.binaries, 'pg_dump'), '--schema-only', '--no-owner', '--no-privileges', url]);
  const text = await new Response(dump.stdout).text();
  const lines = text.split('\n').filter((line) => !/^(--|SET |SELECT pg_catalog\.set_config|\\)/.test(line));
  return `${lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}
