import { unavailable } from '../failure.ts';

export const standsStill = () => unavailable(new Error('the disk, or another process that writes, takes too long'));

/** What comes of this, or a refusal after so many milliseconds; nobody knows then what becomes of it. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  if (ms === Number.POSITIVE_INFINITY) return work;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(standsStill()), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
