import { expect, test } from 'bun:test';
import { readSettings } from '../../config.ts';
import { Metrics } from '../../observe/metrics.ts';
import { openStore } from '../../store/engine/open.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';

onBothEngines('the event lock', (engine) => {
  test('reports how long each transaction waited for it and held it, even one that rolls back', async () => {
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
    // With SQLite the wait comes before the transaction starts.
    if (engine === 'postgres') await asks.promise;
    const asksAt = performance.now();
    await Bun.sleep(10);
    const waitsMs = performance.now() - asksAt;
    goOn.resolve();
    await slow;
    expect(await failing).toBe('failed');
    await store.write((tx) => tx.run('UPDATE cursors SET event_id = event_id'));
    // With PostgreSQL either may be reported first.
    expect(told).toHaveLength(2);
    expect(Math.max(...told.map((one) => one.heldMs))).toBeGreaterThanOrEqual(heldMs);
    expect(Math.max(...told.map((one) => one.waitedMs))).toBeGreaterThanOrEqual(waitsMs);
    await store.close();
  });
});

test('the metrics sum up how long transactions wait for the event lock and hold it', () => {
  const metrics = new Metrics('0');
  metrics.eventLock(500, 250);
  metrics.eventLock(1_000, 0);
  const text = metrics.text();
  expect(text).toContain('\nparley_event_lock_waited_seconds_total 1.5\n');
  expect(text).toContain('\nparley_event_lock_held_seconds_total 0.25\n');
});
