import { expect, test } from 'bun:test';
import { ApiError, TransportError } from '@parley-chat/sdk';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { type Limits, Retrier } from '../retrier.ts';

/** A retrier with these limits, and what it says. */
function newRetrier(limits: Limits) {
  const said: string[] = [];
  const stopping = new AbortController();
  const clock = new TestClock();
  const say = async (line: string) => void said.push(line);
  return { said, stopping, clock, retrier: new Retrier({ signal: stopping.signal, clock, say }, limits) };
}

const endless = { silenceMs: 60_000, outageMs: Number.POSITIVE_INFINITY };
const gone = () => Promise.reject(new TransportError('Nobody is there.'));

test('the retrier gives up after a long outage, with the last error', async () => {
  const { said, clock, retrier } = newRetrier({ ...endless, outageMs: 17_000 });
  let calls = 0;
  const call = retrier.call(() => {
    calls++;
    return gone();
  });
  await expect(call).rejects.toThrow('Nobody is there.');
  expect(calls).toBe(5);
  expect(clock.pauses).toEqual([1_000, 2_000, 5_000, 10_000]);
  expect(said).toEqual([expect.stringMatching(/^The server is not available\. Retrying\. Nobody is there\./)]);
});

test('a call that gets further counts as a sign of life, however often it breaks off', async () => {
  const { said, clock, retrier } = newRetrier({ ...endless, outageMs: 500 });
  let calls = 0;
  const answer = await retrier.call(async (_, { advanced }) => {
    if (++calls === 4) return 'done';
    advanced();
    return gone();
  });
  expect(answer).toBe('done');
  expect(clock.pauses).toEqual([1_000, 1_000, 1_000]);
  const [away, back] = ['The server is not available. ', 'The server is back.'];
  expect(said.map((line) => line.slice(0, 19))).toEqual(
    [away, back, away, back, away, back].map((l) => l.slice(0, 19)),
  );
});

test('a silent call times out, and one with progress does not', async () => {
  const { clock, retrier } = newRetrier({ ...endless, silenceMs: 2_000 });
  const timeout = () => {
    const [only, ...others] = clock.timers;
    expect(others).toEqual([]);
    return only;
  };
  let calls = 0;
  const call = retrier.call(async (signal, { alive }) => {
    if (++calls === 1)
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    for (let i = 0; i < 30; i++) {
      const before = timeout();
      alive();
      expect(timeout()).not.toBe(before);
    }
    return signal.aborted ? 'cut off' : 'done';
  });
  await eventually('the first call waits', () => calls === 1);
  expect(clock.timeouts).toEqual([2_000]);
  clock.expire();
  expect(await call).toBe('done');
  expect(calls).toBe(2);
  expect(clock.timeouts).toEqual([]);
});

test('a refusal is final', async () => {
  const { said, retrier } = newRetrier(endless);
  const refusal = { code: 'forbidden', message: 'No.', details: [], status: 403 } as const;
  const call = retrier.call(() =>
    Promise.reject(new ApiError({ ...refusal, requestId: undefined, retryAfter: undefined })),
  );
  await expect(call).rejects.toThrow('No.');
  expect(said).toEqual([]);
});

test('an aborted signal ends the wait', async () => {
  const { retrier, clock, stopping } = newRetrier(endless);
  clock.hold();
  const call = retrier.call(gone);
  await eventually('it pauses', () => clock.pausing === 1);
  stopping.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});
