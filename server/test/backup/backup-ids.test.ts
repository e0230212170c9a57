import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readCounters, setCounter } from '../../backup/counters.ts';
import { idsAfter } from '../../backup/ids.ts';
import { type EngineName, freshEnvironment, onBothEngines } from '../support/engines.ts';
import { postgresMissing } from '../support/postgres.ts';
import { serverFor, startServer } from '../support/server.ts';

describe('ids', () => {
  test.skipIf(postgresMissing !== undefined)('are counted for the same tables by both engines', async () => {
    const counted = async (engine: EngineName) => {
      const server = await startServer(await freshEnvironment(engine));
      const names = (await readCounters(server.engine)).map(({ name }) => name);
      await server.stop();
      return names;
    };
    const names = await counted('sqlite');
    expect(names).toEqual(expect.arrayContaining(['messages', 'events', 'users', 'chats', 'deliveries', 'files']));
    expect(await counted('postgres')).toEqual(names);
  });

  const noon = Date.UTC(2030, 5, 1, 12);
  const second = 1_000;

  test('continue after a restore at 100,000 per second since 2020', () => {
    expect(idsAfter(0, Date.UTC(2020, 0, 1), Date.UTC(2020, 0, 2))).toBe(8_640_000_000);
    expect(idsAfter(7, noon, noon + second) - idsAfter(7, noon, noon)).toBe(100_000);
  });

  test('of a later restore are above all ids of earlier restored servers, in every chain of restores', () => {
    // Each server counts at the maximum rate. A step restores the first backup, or one of any earlier server.
    const first = { last: 5_000_000, at: noon };
    fc.assert(
      fc.property(
        fc.array(fc.record({ of: fc.nat(), waits: fc.nat(20_000), keeps: fc.nat(20_000) }), { minLength: 2 }),
        (steps) => {
          const backups = [first];
          let [now, most] = [noon, first.last];
          for (const { of, waits, keeps } of steps) {
            const backup = backups[of % backups.length] ?? first;
            now += 1 + waits;
            const from = idsAfter(backup.last, backup.at, now);
            expect(from).toBeGreaterThan(most);
            // The times until its backup and until the next restore.
            now += keeps;
            most = from + keeps * 99;
            backups.push({ last: most, at: now });
          }
        },
      ),
    );
  });

  test('continue above a backup that is ahead of the clock, further with time', () => {
    const ahead = idsAfter(0, noon, noon) + 100;
    expect(idsAfter(ahead, noon, noon)).toBe(ahead + 1_000_000_000);
    expect(idsAfter(ahead, noon, noon - second)).toBe(ahead + 1_000_000_000);
    expect(idsAfter(ahead, noon, noon + 2 * second)).toBeGreaterThan(idsAfter(ahead, noon, noon));
  });
});

onBothEngines('a counter of ids', (engine) => {
  const server = serverFor(engine);

  test('returns the id after the one that it was set to, for every table', async () => {
    await server().engine.write(async (tx) => {
      for (const counter of await readCounters(tx)) await setCounter(tx, counter, counter.last + 5_000_000_000);
    });
    const ada = await server().user('ada');
    expect(ada.userId).toBe(5_000_000_001);
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Group', participants: [] })).group;
    expect(chat_id).toBe(5_000_000_001);
    const { message } = await ada.ok('messages.send_message', { chat_id, content: 'Hello' });
    expect(message.message_id).toBe(5_000_000_001);
    const counters = await readCounters(server().engine);
    expect(counters.filter(({ last }) => last < 5_000_000_000)).toEqual([]);
  });
});
