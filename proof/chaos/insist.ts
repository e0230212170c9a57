import type { OperationName } from '@parley/contract';
import type { Answer } from '../../server/test/support/client.ts';
import { pause } from './pause.ts';

/** Between two tries of a call that got no answer. */
const againMs = 25;

/**
 * Makes a call until it is answered: the server may be down, or be killed in the midst. Calls twice or more where the first
 * one came to pass without an answer, so it is for those that may be repeated. Any answer but success is thrown.
 */
export async function insist<N extends OperationName>(
  call: () => Promise<Answer<N>>,
  end: AbortSignal,
  repeating: () => void = () => {},
): Promise<Answer<N>['body']> {
  for (; ; repeating()) {
    end.throwIfAborted();
    const answer = await call().catch(() => undefined);
    if (answer?.status === 200) return answer.body;
    if (answer && answer.status !== 503) throw new Error(`${answer.status} ${JSON.stringify(answer.error)}`);
    await pause(againMs, end);
  }
}
