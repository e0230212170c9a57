/** The timers of a client. */
export interface Clock {
  /** Resolves after `ms`. Rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `expired` after `ms`. Returns a function that cancels the timeout. */
  timeout(ms: number, expired: () => void): () => void;
}

export const systemClock: Clock = {
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
  timeout: (ms, expired) => {
    const timer = setTimeout(expired, ms);
    return () => clearTimeout(timer);
  },
};
