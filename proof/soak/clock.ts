const hourMs = 3_600_000;

/**
 * Returns a clock that leaps ahead by an hour each time that so many milliseconds have passed. What is stored for days expires
 * within minutes. Between two leaps, timers of seconds work as usual, which they would not under a faster clock.
 */
export function leapingClock(now: () => number, leapEveryMs: number): () => number {
  const began = now();
  return () => {
    const at = now();
    return at + Math.floor((at - began) / leapEveryMs) * hourMs;
  };
}
