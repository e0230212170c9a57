import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { databaseFile } from '../../store/data-folder/folder.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { openStore } from '../../store/engine/open.ts';
import { openSqlite } from '../../store/engine/sqlite/engine.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { startServer } from '../support/server.ts';

const cursorAt = async (store: Engine, name: string) =>
  (await store.get<{ event_id: number }>('SELECT event_id FROM cursors WHERE name = $1', [name]))?.event_id;

/** Returns the error of a promise. `rejects` would block the event loop turn in which the thread's responses arrive. */
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it worked',
    (error: Error) => error.message,
  );

const setCursor = (name: string, at: number) => `INSERT INTO cursors (name, event_id) VALUES ('${name}', ${at})`;

onBothEngines('a transaction', (engine) => {
  const openOn = async () => openStore(readSettings(await freshEnvironment(engine)), Date.now);

  test('fails with its first failed statement, and leaves nothing behind', async () => {
    const store = await openOn();
    const failing = store.write(async (tx) => {
      await tx.run(setCursor('one', 1));
      await tx.run(setCursor('one', 2));
    });
    const next = store.write((tx) => tx.run(setCursor('two', 3)));
    expect(await reasonOf(failing)).toMatch(/unique/i);
    expect(await next).toBe(1);
    expect([await cursorAt(store, 'one'), await cursorAt(store, 'two')]).toEqual([undefined, 3]);
    await store.close();
  });

  test('that throws leaves nothing behind', async () => {
    const store = await openOn();
    const failing = store.write(async (tx) => {
      await tx.run(setCursor('one', 1));
      throw new Error('changed its mind');
    });
    expect(await reasonOf(failing)).toBe('changed its mind');
    expect(await cursorAt(store, 'one')).toBeUndefined();
    await store.close();
  });
});

describe('the writer thread', () => {
  test('runs no calls of a transaction that has ended', async () => {
    const store = await openStore(readSettings(await freshEnvironment('sqlite')), Date.now);
    const late = Promise.withResolvers<() => Promise<number>>();
    await store.write(async (tx) => late.resolve(() => tx.run(setCursor('late', 1))));
    const run = await late.promise;
    expect(await reasonOf(run())).toBe('too late for run');
    const other = store.write(async (tx) => {
      await tx.run(setCursor('other', 1));
      await run().catch(() => {});
    });
    await other;
    expect([await cursorAt(store, 'late'), await cursorAt(store, 'other')]).toEqual([undefined, 1]);
    await store.close();
  });

  test('has a timeout: a transaction that had not started never runs, and later ones do', async () => {
    const { folder } = readSettings(await freshEnvironment('sqlite'));
    await openStore(readSettings({ PARLEY_DATA: folder }), Date.now).then((store) => store.close());
    const store = await openSqlite(databaseFile(folder), { timeoutMs: 300 });
    const other = new Database(databaseFile(folder));
    other.run('BEGIN IMMEDIATE');
    const begun = store.run(setCursor('begun', 1));
    const waiting = store.run(setCursor('waiting', 1));
    const refusals = await Promise.all([begun, waiting].map(reasonOf));
    expect(refusals).toEqual(Array(2).fill('The database is unavailable right now. Try again.'));
    other.run('ROLLBACK');
    other.close();
    await eventually(
      'the one that had started is committed',
      async () => (await cursorAt(store, 'begun')) ?? undefined,
    );
    // On a busy machine one more may exceed its 300 ms.
    await eventually('later transactions run', () =>
      store.run(setCursor('after', 1)).then(
        () => true,
        () => undefined,
      ),
    );
    expect([await cursorAt(store, 'waiting'), await cursorAt(store, 'after')]).toEqual([undefined, 1]);
    await store.close();
  });

  test('reports a database that cannot be opened', async () => {
    const env = await freshEnvironment('sqlite');
    const { folder } = readSettings(env);
    await Bun.write(
      databaseFile(folder),
      'this is no database, but a text that is as long as the head of one'.repeat(99),
    );
    await expect(openStore(readSettings(env), Date.now)).rejects.toThrow('file is not a database');
  });
});

test('reads work while another process locks the database, and sends once it is free', async () => {
  const env = await freshEnvironment('sqlite');
  const server = await startServer(env);
  const { ada } = await users(server, 'ada');
  const { group } = await ada.ok('messages.create_group', { name: 'locked', participants: [] });
  const other = new Database(databaseFile(readSettings(env).folder));
  other.run('BEGIN IMMEDIATE');
  let isSent = false;
  const sending = ada.ok('messages.send_message', { chat_id: group.chat_id, content: 'waits' }).then((answer) => {
    isSent = true;
    return answer;
  });
  for (let i = 0; i < 20; i++) await ada.ok('messages.get_messages', { chat_id: group.chat_id });
  expect(isSent).toBe(false);
  other.run('ROLLBACK');
  other.close();
  const { message } = await sending;
  const { messages } = await ada.ok('messages.get_messages', { chat_id: group.chat_id });
  expect(messages.map((m) => m.message_id)).toEqual([message.message_id]);
  await server.stop();
});
