import { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { SQL } from 'bun';
import { given, say } from '../../harness/helper.ts';
import type { InsertJob, InsertTable, Post } from '../measure/bare-insert.ts';

/**
 * The minimum that any server does to store the same rows: it writes them in batches. Each is on disk before the next one of
 * its writer begins.
 */
const job = await given<InsertJob>();

/** Writes one batch: a row in every table for each key from `first` on. */
type Write = (first: number) => Promise<void>;

const rowsOf = ({ key, row }: InsertTable, first: number) =>
  Array.from({ length: job.batch }, (_, i) =>
    Object.entries(row).map(([column, value]) => (column === key ? first + i : value)),
  ).flat();

function openSqlite(): Write {
  for (const end of ['', '-wal', '-shm']) rmSync(job.database + end, { force: true });
  const database = new Database(job.database, { create: true });
  for (const sql of ['PRAGMA journal_mode = WAL', 'PRAGMA synchronous = FULL', ...job.schema]) database.run(sql);
  const statements = job.tables.map((table) => {
    const columns = Object.keys(table.row);
    const row = `(${columns.map(() => '?').join(', ')})`;
    const rows = Array.from({ length: job.batch }, () => row).join(', ');
    return database.prepare(`INSERT INTO ${table.name} (${columns.join(', ')}) VALUES ${rows}`);
  });
  const write = database.transaction((first: number) => {
    for (const [i, table] of job.tables.entries()) statements[i]?.run(...rowsOf(table, first));
  });
  return async (first) => write.immediate(first);
}

async function openPostgres(): Promise<Write> {
  const sql = new SQL(job.database, { max: job.writers });
  for (const text of job.schema) await sql.unsafe(text);
  const typeOf = (value: unknown) => (typeof value === 'number' ? 'BIGINT' : 'TEXT');
  const inserts = job.tables.map((table) => {
    const columns = Object.entries(table.row).filter(([, value]) => value !== null);
    const sources = columns.map(([, value], i) => `$${i + 1}::${typeOf(value)}[]`);
    const names = columns.map(([column]) => column).join(', ');
    return {
      table,
      columns,
      text: `INSERT INTO bare.${table.name} (${names}) SELECT * FROM unnest(${sources.join(', ')})`,
    };
  });
  return async (first) => {
    await sql.begin(async (tx) => {
      const statements = inserts.map(({ table, columns, text }) => {
        const values = columns.map(([column, value]) =>
          Array.from({ length: job.batch }, (_, i) => (column === table.key ? first + i : value)),
        );
        return tx.unsafe(
          text,
          values.map((list) => tx.array(list, typeOf(list[0]))),
        );
      });
      await Promise.all(statements);
    });
  };
}

const write = job.database.startsWith('postgres:') ? await openPostgres() : openSqlite();
let [next, done] = [1, 0];

async function writeUntil(end: number): Promise<void> {
  const start = performance.now();
  for (let count = 0; performance.now() < end; count++) {
    if (job.post) await Bun.sleep(Math.max(0, start + (count * 1_000) / job.post.perSecond - performance.now()));
    const began = performance.timeOrigin + performance.now();
    const first = next;
    next += job.batch;
    await write(first);
    done += job.batch;
    if (job.post) await post(job.post, began);
  }
}

async function post({ url, headers, body }: Post, began: number): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { ...headers, 'x-began': String(began) }, body });
  await response.arrayBuffer();
}

const writeFor = async (ms: number) => {
  const end = performance.now() + ms;
  await Promise.all(Array.from({ length: job.writers }, () => writeUntil(end)));
};

await writeFor(job.seconds * 250);
done = 0;
const began = performance.now();
await writeFor(job.seconds * 1_000);
say(done / ((performance.now() - began) / 1_000));
process.exit();
