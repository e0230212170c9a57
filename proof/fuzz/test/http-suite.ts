import { afterAll, beforeAll, test } from 'bun:test';
import type { EngineName } from '../../../server/test/support/engines.ts';
import type { Calls } from '../calls/calls.ts';
import { http } from '../http.ts';
import { Target } from '../target.ts';

/** A subject is hundreds of requests, each of which has a limit of its own that catches hangs. */
const mostMs = 600_000;

/** Tries everything that is served over HTTP, with a share of the inputs of each subject; the rest is up to `more`. */
export function tryHttp(engine: EngineName, share: number, more: (calls: Calls) => void = () => {}): void {
  let open: Target | undefined;
  const target = () => {
    if (!open) throw new Error('the server has not been started yet');
    return open;
  };
  const { subjects, calls } = http(target);
  beforeAll(async () => {
    open = await Target.open(engine);
  });

  for (const one of subjects) {
    test(
      one.name,
      async () => {
        await target().attempt(one, { runs: Math.ceil(one.runs * share) });
      },
      mostMs,
    );
  }

  more(calls);

  test('the server is well, and ends in order', async () => {
    await target().check();
    await target().close();
    open = undefined;
  });

  afterAll(() => open?.close());
}
