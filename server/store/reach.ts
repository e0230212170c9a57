import { ParleyError } from '@parley/contract';
import { SQL } from 'bun';
import { asUnavailable } from './failure.ts';

/** The pauses between attempts to reach a database: the first, and the longest. */
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/**
 * Answers once PostgreSQL takes questions: it may be starting, as we are. Says what is in the way, and throws that where it
 * will not pass by itself, or has not passed in time.
 */
export async function untilReachable(url: string, withinMs: number, say: (why: string) => void): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const sql = new SQL(url, { max: 1, connectionTimeout: 5 });
    try {
      await sql.unsafe('SELECT 1');
      return;
    } catch (error) {
      const fault = asUnavailable(error);
      if (!(fault instanceof ParleyError) || performance.now() + pause > deadline) throw fault;
      say((error as Error).message);
    } finally {
      await sql.close({ timeout: 0 });
    }
    await Bun.sleep(pause);
  }
}
