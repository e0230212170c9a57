import type { Clock } from './context.ts';

/** As long as a webhook's endpoint has. */
export const answerWithinMs = 15_000;

/** A signal that is aborted with a `TimeoutError` once an answer is late. Disposing of it cancels that. */
export function answerTimeout(clock: Clock) {
  const late = new AbortController();
  const message = `There was no answer in ${answerWithinMs / 1_000} s.`;
  const cancel = clock.timeout(answerWithinMs, () => late.abort(new DOMException(message, 'TimeoutError')));
  return { signal: late.signal, [Symbol.dispose]: cancel };
}
