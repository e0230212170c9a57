/** Rejects with the given error after `ms`. The work is not cancelled and may still complete. */
export async function withTimeout<T>(ms: number, work: Promise<T>, error: () => Error): Promise<T> {
  if (ms === Number.POSITIVE_INFINITY) return work;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(error()), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
