import { heapStats } from 'bun:jsc';
import { realWorld, startParley } from '../../server/compose.ts';
import { readSettings } from '../../server/config.ts';
import { leapingClock } from './clock.ts';
import type { Held, Inside } from './inside.ts';

/**
 * The server of a soak, in a process of its own: Parley as it is, but for a clock that leaps ahead, and for a second port
 * that tells what can only be known from within.
 */

/** How often the event loop is asked whether it keeps up. */
const tickMs = 20;

let expectedAt = performance.now() + tickMs;
let worstLagMs = 0;
setInterval(() => {
  const at = performance.now();
  worstLagMs = Math.max(worstLagMs, at - expectedAt);
  expectedAt = at + tickMs;
}, tickMs);

function look(): Inside {
  const lagMs = worstLagMs;
  worstLagMs = 0;
  return { lagMs };
}

/** To collect everything and to count it holds the process up for some ten milliseconds: only where somebody asks. */
function lookAtHeap(): Held {
  Bun.gc(true);
  const { heapSize, objectTypeCounts } = heapStats();
  return { heapBytes: heapSize, kinds: objectTypeCounts };
}

const { SOAK_LEAP_MS, SOAK_PORT, ...settings } = process.env;
const now = leapingClock(Date.now, Number(SOAK_LEAP_MS));
const parley = await startParley(readSettings(settings), { ...realWorld, now });
const inside = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(SOAK_PORT),
  fetch: ({ url }) => Response.json(new URL(url).pathname === '/held' ? lookAtHeap() : look()),
});
process.once('SIGTERM', () => {
  void inside.stop(true);
  void parley.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
