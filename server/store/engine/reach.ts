import { ParleyError } from '@parley/contract';
import { SQL } from 'bun';
import { asUnavailable } from './failure.ts';

/** The pauses between attempts to reach a database: the first, and the longest. */
const firstPauseMs = 250;
const maxPauseMs = 2_000;

/**
 * Resolves once PostgreSQL accepts queries: it may be starting at the same time. Reports each failure to `say`. Throws the
 * failure if it cannot pass by itself, or has not passed in time.
 */
export async function untilReachable(url: string, withinMs: number, say: (why: string) => void): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
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
