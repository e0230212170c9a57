import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkArchive } from '../../backup/archive-reader.ts';
import { ArchiveWriter } from '../../backup/archive-writer.ts';
import { columnsOf, tableNames } from '../../backup/catalog.ts';
import { pagesOf } from '../../backup/table-copy.ts';
import { keptTables, leftOut } from '../../backup/tables.ts';
import { headerOf, parseHeader } from '../../backup/tar.ts';
import { readSettings } from '../../config.ts';
import type { Value } from '../../store/engine/engine.ts';
import { fillStore, withSnapshot, withSqliteSnapshot } from '../../store/engine/open.ts';
import { Connection } from '../../store/engine/sqlite/connection.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('a backup', (engine) => {
  const server = serverFor(engine);

  test('has every table except those that are left out for a reason', async () => {
    const found = await tableNames(server().engine);
    const listed = [...keptTables.map(({ name }) => name), ...Object.keys(leftOut)];
    expect(new Set(listed).size).toBe(listed.length);
    // Only SQLite has tables for its counters and its list of words.
    const expected = listed.filter((name) => engine === 'sqlite' || !['id_counters', 'message_terms'].includes(name));
    expect(found).toEqual(expected.sort());
  });

  test('has a unique key for every table', async () => {
    for (const { name, key } of keptTables.filter((table) => table.key.length > 0)) {
      const columns = Object.keys(await columnsOf(server().engine, name));
      expect({ name, columns }).toEqual({ name, columns: expect.arrayContaining([...key]) });
      const unique = await isUnique(name, key);
      expect({ name, unique }).toEqual({ name, unique: true });
    }
  });

  /** Returns true if a unique index covers the key. */
  async function isUnique(table: string, key: readonly string[]): Promise<boolean> {
    const rows = await server().engine.all<{ columns: string }>(
      engine === 'sqlite'
        ? `SELECT group_concat(name, ',') AS columns FROM (SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk)`
        : `SELECT string_agg(CAST(a.attname AS text), ',' ORDER BY p.place) AS columns
           FROM pg_index i CROSS JOIN LATERAL unnest(CAST(i.indkey AS int2[])) WITH ORDINALITY AS p(number, place)
           JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.number
           WHERE i.indrelid = CAST($1 AS regclass) AND i.indisprimary`,
      [table],
    );
    return rows.some(({ columns }) => columns === key.join(','));
  }

  test('reads pages: every row once, in the order of its key', async () => {
    const ada = await server().user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
    for (let i = 0; i < 100; i++) await ada.ok('messages.send_message', { chat_id, content: `message ${i}` });
    const messages = { name: 'messages', key: ['message_id'] };
    const pages = await withSnapshot(readSettings(server().env), (db) =>
      all(pagesOf(db, messages, ['message_id', 'json'])),
    );
    const ids = pages.flatMap(({ json }) => (JSON.parse(json) as Value[][]).map(([id]) => id));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.map(({ rows }) => rows).reduce((a, b) => a + b)).toBe(100);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  test('is a snapshot, whatever is written meanwhile', async () => {
    const count = 'SELECT count(*) AS total FROM users';
    const [before, later] = await withSnapshot(readSettings(server().env), async (db) => {
      const before = await db.all(count);
      await server().user('late');
      return [before, await db.all(count)];
    });
    expect(later).toEqual(before);
    expect(await server().engine.all(count)).not.toEqual(before);
  });
});

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

test('reads fewer rows at a time if they are large', async () => {
  const file = join(temporaryFolder(), 'large.sqlite');
  const database = new Database(file);
  database.run('CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT)');
  database.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO large SELECT i, printf('%.*c', CASE WHEN i > 100 THEN 400000 ELSE 10 END, 'x') FROM n`);
  database.close();
  const pages = await withSqliteSnapshot(file, (snapshot) =>
    all(pagesOf(snapshot, { name: 'large', key: ['id'] }, ['id', 'text'])),
  );
  expect(pages.flatMap(({ json }) => (JSON.parse(json) as Value[][]).map(([id]) => id))).toEqual(
    Array.from({ length: 200 }, (_, i) => i + 1),
  );
  expect(Math.max(...pages.map(({ json }) => json.length))).toBeLessThan(3_000_000);
});

test('filling a database leaves one complete file, or fails', async () => {
  const folder = temporaryFolder();
  const settings = { folder, databaseUrl: undefined, connections: 1 };
  const fill = (file: string, meanwhile: () => void) =>
    fillStore(settings, file, async (tx) => {
      await tx.run('CREATE TABLE some (id INTEGER PRIMARY KEY)');
      await tx.run('INSERT INTO some VALUES (1)');
      meanwhile();
    });
  const [alone, watched] = [join(folder, 'alone.sqlite'), join(folder, 'watched.sqlite')];
  await fill(alone, () => {});
  expect(existsSync(`${alone}-wal`)).toBeFalse();
  // A reader with an older snapshot keeps the writes in the write-ahead log, as a full disk does.
  let reader: Connection | undefined;
  const filling = fill(watched, () => {
    reader = new Connection(watched, { readonly: true });
    reader.run('BEGIN');
    reader.get('SELECT 1 FROM sqlite_schema');
  });
  await expect(filling).rejects.toThrow('is in use');
  reader?.close();
});

describe('an archive', () => {
  const never = new AbortController().signal;

  async function archived(entries: Readonly<Record<string, string>>): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    const archive = new ArchiveWriter(async (bytes) => void parts.push(bytes), 0, never);
    for (const [name, content] of Object.entries(entries)) await archive.add(name, content);
    await archive.finish([]);
    return Buffer.concat(parts);
  }

  test.skipIf(!Bun.which('tar'))('can be opened with tar', async () => {
    const entries = {
      'manifest.json': '{}',
      'tables/users/000000.json': 'x'.repeat(512),
      'files/1': 'y'.repeat(70_001),
    };
    const path = join(temporaryFolder(), 'archive.tar');
    writeFileSync(path, Bun.zstdDecompressSync(await archived(entries)));
    const listed = Bun.spawnSync(['tar', 'tf', path]).stdout.toString();
    expect(listed.trim().split('\n')).toEqual([...Object.keys(entries), 'missing.json', 'end.json']);
    for (const [name, content] of Object.entries(entries)) {
      expect(Bun.spawnSync(['tar', 'xOf', path, name]).stdout.toString()).toBe(content);
    }
  });

  test.each([0, 1, 511, 8 ** 11 - 1, 8 ** 11, 2 ** 45])('stores the size of its entries: %d bytes', (size) => {
    expect(parseHeader(headerOf('files/1', size, 0))).toEqual({ name: 'files/1', size });
  });

  test('pads an entry that is too short, and reports it', async () => {
    const parts: Uint8Array[] = [];
    const archive = new ArchiveWriter(async (bytes) => void parts.push(bytes), 0, never);
    const short = async function* () {
      yield Buffer.from('only the beginning');
    };
    expect(await archive.addStream('files/1', 200_000, short())).toBeFalse();
    await archive.add('after', 'it');
    await archive.finish([1]);
    const tar = Bun.zstdDecompressSync(Buffer.concat(parts));
    expect(Buffer.from(tar.subarray(512, 530)).toString()).toBe('only the beginning');
    expect(parseHeader(Buffer.from(tar.subarray(512 + 200_192, 1_024 + 200_192)))?.name).toBe('after');
  });

  test('fails if the bytes of an entry cannot be read, with the reason', async () => {
    const archive = new ArchiveWriter(async () => {}, 0, never);
    const broken = async function* () {
      yield Buffer.from('only the beginning');
      throw new Error('the disk is gone');
    };
    await expect(archive.addStream('files/1', 200_000, broken())).rejects.toThrow('the disk is gone');
    await archive.abandon();
  });

  test('fails with its sink, with the reason', async () => {
    const refusing = new ArchiveWriter(() => Promise.reject(new Error('the disk is full')), 0, never);
    const write = async () => {
      for (let i = 0; i < 1_000; i++) await refusing.add(`files/${i}`, crypto.getRandomValues(new Uint8Array(60_000)));
    };
    await expect(write()).rejects.toThrow('the disk is full');
  });

  test('is refused if any byte differs', async () => {
    const tables = [{ name: 'users', columns: { user_id: 'int' }, rows: 1 }];
    const key = { included: false, fingerprint: null };
    const files = { included: true, count: 0, bytes: 0, bucket: null };
    const began_at = new Date(0).toISOString();
    const manifest = {
      format: 1,
      parley: '0',
      schema: 1,
      engine: 'sqlite',
      began_at,
      tables,
      last_ids: {},
      files,
      key,
    };
    const whole = await archived({ 'manifest.json': JSON.stringify(manifest), 'tables/users/000000.json': '[[1]]' });
    const check = (tar: Uint8Array) => checkArchive(chunks(Bun.zstdCompressSync(tar)), never, () => {});
    const tar = Bun.zstdDecompressSync(whole);
    await check(tar);
    const passed: number[] = [];
    for (let at = 0; at < tar.length; at += 37) {
      const other = Buffer.from(tar);
      other[at] = (other[at] ?? 0) ^ 1;
      await check(other).then(
        () => passed.push(at),
        () => {},
      );
    }
    expect(passed).toEqual([]);
  });

  async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  }
});
