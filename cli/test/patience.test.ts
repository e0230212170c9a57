import { expect, test } from 'bun:test';
import { ApiError, TransportError } from '@parley/sdk';
import { type Limits, Patience } from '../patience.ts';

/** Patience with these limits, and what it says. */
function patient(limits: Limits) {
  const said: string[] = [];
  const stopping = new AbortController();
  const say = async (line: string) => void said.push(line);
  return { said, stopping, patience: new Patience({ signal: stopping.signal, say }, limits) };
}

const endless = { silenceMs: 60_000, absenceMs: Number.POSITIVE_INFINITY };
const gone = () => Promise.reject(new TransportError('Nobody is there.'));

test.concurrent('a server that is away for too long is given up, with what was wrong', async () => {
  const { said, patience } = patient({ ...endless, absenceMs: 500 });
  let calls = 0;
  const call = patience.call(() => {
    calls++;
    return gone();
  });
  await expect(call).rejects.toThrow('Nobody is there.');
  expect(calls).toBe(2);
  expect(said).toEqual([expect.stringMatching(/^The server is away; trying until it is back\. Nobody is there\./)]);
});

test.concurrent('a call that gets further counts as a sign of life, however often it breaks off', async () => {
  const { said, patience } = patient({ ...endless, absenceMs: 500 });
  let calls = 0;
  const answer = await patience.call(async (_, { further }) => {
    if (++calls === 4) return 'done';
    further();
    return gone();
  });
  expect(answer).toBe('done');
  const [away, back] = ['The server is away; ', 'The server is back.'];
  expect(said.map((line) => line.slice(0, 19))).toEqual(
    [away, back, away, back, away, back].map((l) => l.slice(0, 19)),
  );
});

test.concurrent('a server that says nothing is not waited for, while one that stirs is', async () => {
  const { patience } = patient({ ...endless, silenceMs: 2_000 });
  let calls = 0;
  const answer = await patience.call(async (signal, { alive }) => {
    if (++calls === 1)
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    for (let i = 0; i < 30; i++) {
      await Bun.sleep(100);
      alive();
    }
    return signal.aborted ? 'cut off' : 'done';
  });
  expect({ answer, calls }).toEqual({ answer: 'done', calls: 2 });
});

test.concurrent('a refusal is final', async () => {
  const { said, patience } = patient(endless);
  const refusal = { code: 'forbidden', message: 'No.', details: [], status: 403 } as const;
  const call = patience.call(() =>
    Promise.reject(new ApiError({ ...refusal, requestId: undefined, retryAfter: undefined })),
  );
  await expect(call).rejects.toThrow('No.');
  expect(said).toEqual([]);
});

test.concurrent('whoever is told to stop does not wait', async () => {
  const { patience, stopping } = patient(endless);
  const call = patience.call(gone);
  stopping.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});
