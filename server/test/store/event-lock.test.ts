import { expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { Metrics } from '../../observe/metrics.ts';
import { openStore } from '../../store/engine/open.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

onBothEngines('the event lock', (engine) => {
  test('is told of with how long each waited for it and held it, also where nothing comes of it', async () => {
    const store = await openStore(readSettings(await freshEnvironment(engine)), Date.now);
    const told: { waitedMs: number; heldMs: number }[] = [];
    store.locked = (waitedMs, heldMs) => told.push({ waitedMs, heldMs });
    const has = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let heldMs = 0;
    const slow = store.write(async (tx) => {
      await tx.takeIds({ messages: 1, events: 1 });
      const hasAt = performance.now();
      has.resolve();
      await goOn.promise;
      heldMs = performance.now() - hasAt;
    });
    await has.promise;
    const asks = Promise.withResolvers<void>();
    const failing = store
      .write(async (tx) => {
        asks.resolve();
        await tx.takeIds({ messages: 0, events: 1 });
        throw new Error('changed its mind');
      })
      .catch(() => 'failed');
    // SQLite has it wait before it begins.
    if (engine === 'postgres') await asks.promise;
    const asksAt = performance.now();
    await Bun.sleep(10);
    const waitsMs = performance.now() - asksAt;
    goOn.resolve();
    await slow;
    expect(await failing).toBe('failed');
    await store.write((tx) => tx.run('UPDATE cursors SET event_id = event_id'));
    // With PostgreSQL either may be told of first.
    expect(told).toHaveLength(2);
    expect(Math.max(...told.map((one) => one.heldMs))).toBeGreaterThanOrEqual(heldMs);
    expect(Math.max(...told.map((one) => one.waitedMs))).toBeGreaterThanOrEqual(waitsMs);
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
