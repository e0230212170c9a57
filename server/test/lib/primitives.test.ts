import { describe, expect, test } from 'bun:test';
import { LeaseTerm } from '../../lib/lease.ts';
import { Loop } from '../../lib/loop.ts';
import { SealedBox } from '../../lib/sealed-box.ts';
import { Semaphore, SemaphoreFull } from '../../lib/semaphore.ts';
import { SingleFlight } from '../../lib/single-flight.ts';
import { withTimeout } from '../../lib/timeout.ts';

/** Runs everything that is ready. */
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Work that the test ends. */
function gated() {
  const started: PromiseWithResolvers<void>[] = [];
  const work = () => {
    const gate = Promise.withResolvers<void>();
    started.push(gate);
    return gate.promise;
  };
  return { started, work };
}

test('a semaphore runs as many at a time as it has permits, the others in call order', async () => {
  const { started, work } = gated();
  const semaphore = new Semaphore(2);
  const ended: number[] = [];
  const all = [0, 1, 2, 3].map((n) => semaphore.run(work).then(() => ended.push(n)));
  await settle();
  expect(started).toHaveLength(2);
  started[1]?.resolve();
  await settle();
  expect(started).toHaveLength(3);
  for (const n of [0, 2]) started[n]?.resolve();
  await settle();
  started[3]?.resolve();
  await Promise.all(all);
  expect(ended[0]).toBe(1);
  expect(ended.at(-1)).toBe(3);
});

test('a semaphore refuses callers beyond those that may wait, and serves again after a failure', async () => {
  const { started, work } = gated();
  const semaphore = new Semaphore(1, 1);
  const [first, second] = [semaphore.run(work), semaphore.run(work)];
  await expect(semaphore.run(work)).rejects.toBeInstanceOf(SemaphoreFull);
  started[0]?.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await settle();
  started[1]?.resolve();
  await second;
  expect(await semaphore.run(async () => 'free')).toBe('free');
});

test('a timeout rejects with its error, and does not affect faster work', async () => {
  const never = new Promise<never>(() => {});
  await expect(withTimeout(1, never, () => new Error('too late'))).rejects.toThrow('too late');
  expect(await withTimeout(60_000, Promise.resolve('in time'), () => new Error('too late'))).toBe('in time');
  expect(await withTimeout(Number.POSITIVE_INFINITY, Promise.resolve(1), () => new Error())).toBe(1);
  await expect(withTimeout(60_000, Promise.reject(new Error('own')), () => new Error())).rejects.toThrow('own');
});

function singleFlight() {
  const { started, work } = gated();
  const outcomes: string[] = [];
  const flight = new SingleFlight(work, {
    succeeded: () => outcomes.push('succeeded'),
    failed: (cause) => outcomes.push((cause as Error).message),
  });
  return { started, outcomes, flight };
}

test('calls during a run share one run after it', async () => {
  const { started, outcomes, flight } = singleFlight();
  const first = flight.run();
  const later = [flight.run(), flight.run()];
  expect(started).toHaveLength(1);
  started[0]?.resolve();
  await first;
  await settle();
  expect(started).toHaveLength(2);
  started[1]?.resolve();
  await Promise.all(later);
  expect(outcomes).toEqual(['succeeded', 'succeeded']);
});

test('a run that fails is reported, and the next call runs again; a stopped one runs nothing', async () => {
  const { started, outcomes, flight } = singleFlight();
  const first = flight.run();
  started[0]?.reject(new Error('broken'));
  await first;
  const second = flight.run();
  const stopped = flight.stop();
  started[1]?.resolve();
  await Promise.all([second, stopped]);
  await flight.run();
  expect(started).toHaveLength(2);
  expect(outcomes).toEqual(['broken', 'succeeded']);
});

test('a sealed box opens only with its key and context, and only unchanged', () => {
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const box = new SealedBox(random(32), random);
  const sealed = box.seal('häl✓lo', 'topic');
  expect(box.open(sealed, 'topic')).toBe('häl✓lo');
  expect(box.seal('häl✓lo', 'topic')).not.toEqual(sealed);
  expect(() => box.open(sealed, 'other')).toThrow();
  expect(() => new SealedBox(random(32), random).open(sealed, 'topic')).toThrow();
  for (const at of [0, 15, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => box.open(changed, 'topic')).toThrow();
  }
  expect(() => box.open(sealed.subarray(0, -1), 'topic')).toThrow();
});

test('a loop runs steps while there is work, once for concurrent wake-ups, and again after a failure', async () => {
  const steps: boolean[] = [];
  const failures: unknown[] = [];
  let next: () => Promise<boolean> = async () => steps.length < 3;
  const step = async () => {
    const more = await next();
    steps.push(more);
    return more;
  };
  const outcomes = { succeeded: () => {}, failed: (cause: unknown) => failures.push(cause) };
  const loop = new Loop({ step, outcomes, monotonic: () => 0, sweepMs: 3_600_000 });
  for (let i = 0; i < 3; i++) loop.wake();
  await settle();
  expect(steps).toEqual([true, true, true, false]);
  next = () => Promise.reject(new Error('broken'));
  loop.wake();
  await settle();
  expect(failures).toHaveLength(1);
  next = async () => false;
  loop.wake();
  await settle();
  expect(steps).toHaveLength(5);
  await loop.stop();
  loop.wake();
  await settle();
  expect(steps).toHaveLength(5);
});

test('a loop pauses to keep its share of the time, but not when it is stopped', async () => {
  let now = 0;
  let steps = 0;
  const step = async () => {
    now += 1_000_000;
    steps++;
    return true;
  };
  const outcomes = { succeeded: () => {}, failed: () => {} };
  const loop = new Loop({ step, outcomes, monotonic: () => now, sweepMs: 3_600_000, timeShare: 0.1 });
  loop.wake();
  await settle();
  await loop.stop();
  expect(steps).toBe(1);
});

test('a loop whose process was suspended within a step goes on after a sweep', async () => {
  let now = 0;
  const twice = Promise.withResolvers<void>();
  let steps = 0;
  const step = async () => {
    now += 86_400_000;
    if (++steps === 2) twice.resolve();
    return true;
  };
  const outcomes = { succeeded: () => {}, failed: () => {} };
  const loop = new Loop({ step, outcomes, monotonic: () => now, sweepMs: 5, timeShare: 0.1 });
  loop.wake();
  await twice.promise;
  await loop.stop();
});

describe('the term of a lease', () => {
  let now = 0;
  const termFrom = (requestedAt: number) => new LeaseTerm(100, () => now, requestedAt);

  test('is counted from the request, not from the response', () => {
    now = 60;
    const term = termFrom(0);
    expect([term.remainingMs, term.isOver]).toEqual([40, false]);
    now = 100;
    expect([term.remainingMs, term.isOver]).toEqual([0, true]);
  });

  test('is over at once if the response took longer than the lease', () => {
    now = 250;
    expect(termFrom(0).isOver).toBe(true);
  });

  test('is extended by a renewal, even after it was over', () => {
    now = 0;
    const term = termFrom(0);
    now = 150;
    expect(term.isOver).toBe(true);
    term.extend(120);
    expect(term.remainingMs).toBe(70);
  });

  test('is not shortened by a response that was overtaken', () => {
    now = 50;
    const term = termFrom(50);
    term.extend(0);
    expect(term.remainingMs).toBe(100);
  });
});
