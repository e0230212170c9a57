import { expect, test } from 'bun:test';
import { onPostgres } from '../support/engines.ts';
import { dumpPostgres, dumpSqlite, schemaFiles } from '../support/schema.ts';

const committed = (file: string) => Bun.file(file).text();

test('the committed SQLite schema equals the migrated one (npm run schema)', async () => {
  expect(await dumpSqlite()).toBe(await committed(schemaFiles.sqlite));
});

onPostgres('the schema', () => {
  test('as committed equals the migrated one (npm run schema)', async () => {
    expect(await dumpPostgres()).toBe(await committed(schemaFiles.postgres));
  });
});
