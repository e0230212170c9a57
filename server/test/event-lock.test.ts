import { expect, test } from 'bun:test';
import { readSettings } from '../config.ts';
import { Metrics } from '../observe/metrics.ts';
import { openStore } from '../store/open.ts';
import { freshEnvironment, onBothEngines } from './support/engines.ts';

onBothEngines('the event lock', (engine) => {
  test('is told of with how long each waited for it and held it, also where nothing comes of it', async () => {
    const store = await openStore(readSettings(await freshEnvironment(engine)), Date.now);
    const told: { waitedMs: number; heldMs: number }[] = [];
    store.locked = (waitedMs, heldMs) => told.push({ waitedMs, heldMs });
    const has = Promise.withResolvers<void>();
    const slow = store.write(async (tx) => {
      await tx.takeIds({ messages: 1, events: 1 });
      has.resolve();
      await Bun.sleep(200);
    });
    await has.promise;
    const failing = store
      .write(async (tx) => {
        await tx.takeIds({ messages: 0, events: 1 });
        throw new Error('changed its mind');
      })
      .catch(() => 'failed');
    await slow;
    expect(await failing).toBe('failed');
    await store.write((tx) => tx.run('UPDATE cursors SET event_id = event_id'));
    // With PostgreSQL both end at nearly the same time.
    const [first, second, ...others] = told.sort((a, b) => a.waitedMs - b.waitedMs);
    expect(first?.heldMs).toBeGreaterThan(150);
    expect(second?.waitedMs).toBeGreaterThan(100);
    expect(others).toEqual([]);
    await store.close();
  });
});

test('the metrics add up what was waited for the event lock, and for how long it was held', () => {
  const metrics = new Metrics('0');
  metrics.eventLock(500, 250);
  metrics.eventLock(1_000, 0);
  const text = metrics.text();
  expect(text).toContain('\nparley_event_lock_waited_seconds_total 1.5\n');
  expect(text).toContain('\nparley_event_lock_held_seconds_total 0.25\n');
});
