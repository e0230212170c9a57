import type { Clock } from './context.ts';

/** How long a server or a webhook endpoint may take to respond. */
export const responseTimeoutMs = 15_000;

/** Returns a signal that aborts with a `TimeoutError` after `ms`. Disposing it cancels the timeout. */
export function timeoutSignal(clock: Clock, ms: number, message: string) {
  const controller = new AbortController();
  const cancel = clock.timeout(ms, () => controller.abort(new DOMException(message, 'TimeoutError')));
  return { signal: controller.signal, [Symbol.dispose]: cancel };
}

export const responseTimeout = (clock: Clock) =>
  timeoutSignal(clock, responseTimeoutMs, `No response within ${responseTimeoutMs / 1_000} s.`);

/** Waits until the work settles, but at most `ms`. Ignores its failure. */
export async function settleWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const expired = Promise.withResolvers<void>();
  const cancel = clock.timeout(ms, expired.resolve);
  await Promise.race([work, expired.promise]).catch(() => {});
  cancel();
}
