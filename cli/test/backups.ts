import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveWriter } from '@parley/server/backup/archive-writer.ts';
import { columnsOf, tableNames } from '@parley/server/backup/catalog.ts';
import type { Manifest } from '@parley/server/backup/manifest.ts';
import { pagesOf } from '@parley/server/backup/table-copy.ts';
import { keptTables, leftOut } from '@parley/server/backup/tables.ts';
import { migrateTo, newestVersion } from '@parley/server/store/engine/migrate.ts';
import { number } from '@parley/server/store/engine/query.ts';
import { openSqlite } from '@parley/server/store/engine/sqlite/engine.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { Client } from '@parley/server/test/support/client.ts';
import { type EngineName, type Environment, emptyEnvironment } from '@parley/server/test/support/engines.ts';
import { postgresMissing } from '@parley/server/test/support/postgres.ts';
import { startServer, type TestServer } from '@parley/server/test/support/server.ts';
import { SQL } from 'bun';
import { said } from './parley.ts';

/** The same one where there is no other. */
export const otherEngine = (engine: EngineName): EngineName =>
  engine === 'postgres' || postgresMissing ? 'sqlite' : 'postgres';

/** A name for a backup that is not there yet. */
export const newPath = (): string => join(temporaryFolder(), 'parley.backup');

/** Backs up what an environment names. */
export async function backedUp(env: Environment): Promise<string> {
  const path = newPath();
  await said(['backup', path], env);
  return path;
}

type Entries = Readonly<Record<string, string>>;

type Tables = { readonly tables: Manifest['tables']; readonly entries: Entries };

const knownTables = new Map<number, Promise<Tables>>();

/** The tables of a database of this version that nobody has used yet, as a manifest and the entries of a backup tell them. */
export function tablesAt(schema: number): Promise<Tables> {
  const known = knownTables.get(schema) ?? readTables(schema);
  knownTables.set(schema, known);
  return known;
}

async function readTables(schema: number): Promise<Tables> {
  const engine = await openSqlite(join(temporaryFolder(), 'schema.sqlite'));
  try {
    await engine.write((tx) => migrateTo(tx, schema, () => 0));
    const tables: Manifest['tables'] = [];
    const entries: Record<string, string> = {};
    for (const name of (await tableNames(engine)).filter((one) => !Object.hasOwn(leftOut, one))) {
      const columns = await columnsOf(engine, name);
      const key = keptTables.find((table) => table.name === name)?.key ?? [];
      tables.push({ name, columns, rows: await number(engine, `SELECT count(*) AS total FROM ${name}`) });
      for await (const { json } of pagesOf(engine, { name, key }, Object.keys(columns))) {
        entries[`tables/${name}/000000.json`] = json;
      }
    }
    return { tables, entries };
  } finally {
    await engine.close();
  }
}

/** A backup of an unused database of this version that says this of itself, with these entries in it besides. */
export async function handmade(
  says: Partial<Record<keyof Manifest, unknown>> & { schema?: number },
  besides: Entries = {},
): Promise<string> {
  const { schema = newestVersion } = says;
  const { tables, entries } = await tablesAt(Math.min(schema, newestVersion));
  const manifest = {
    format: 1,
    parley: '0.1.0',
    schema,
    engine: 'sqlite',
    began_at: new Date().toISOString(),
    tables,
    last_ids: {},
    files: { included: true, count: 0, bytes: 0, bucket: null },
    key: { included: false, fingerprint: null },
    ...says,
  };
  const parts: Uint8Array[] = [];
  const archive = new ArchiveWriter(async (bytes) => void parts.push(bytes), Date.now(), new AbortController().signal);
  for (const [name, content] of Object.entries({
    'manifest.json': JSON.stringify(manifest),
    ...entries,
    ...besides,
  })) {
    await archive.add(name, content);
  }
  await archive.finish([]);
  const path = newPath();
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

/** A server that runs on what a backup held; it ends with its test. */
export async function restored(path: string, engine: EngineName, extra: Environment = {}) {
  const env = { ...(await emptyEnvironment(engine)), ...extra };
  await said(['restore', path], env);
  const server = await startServer(env, { sweepMs: 200 });
  return { server, [Symbol.asyncDispose]: () => server.stop() };
}

/** The same person, with the same token, at another server. */
export const at = (server: TestServer, { token, userId }: Client): Client => new Client(server.url, token, userId);

/** Returns the files and tables that a failed restore left behind, without the lock of the folder. */
export async function leftIn(env: Environment): Promise<string[]> {
  const files = readdirSync(env.PARLEY_DATA ?? '').filter((name) => !name.startsWith('server.lock'));
  if (env.DATABASE_URL === undefined) return files;
  await using sql = new SQL(env.DATABASE_URL, { max: 1 });
  const tables = await sql.unsafe(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
  return [...files, ...tables.map(({ tablename }: { tablename: string }) => tablename)];
}

/** The bytes of a file that a message names. */
export async function bytesOf(by: Client, fileId: number): Promise<{ status: number; bytes: Uint8Array }> {
  const headers = { authorization: `Bearer ${by.token}` };
  const answer = await fetch(`${by.url}/api/files.php?action=download&file_id=${fileId}`, { headers });
  return { status: answer.status, bytes: await answer.bytes() };
}
