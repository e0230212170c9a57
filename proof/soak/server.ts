import { heapStats } from 'bun:jsc';
import { processRuntime, startParley } from '../../server/compose.ts';
import { readSettings } from '../../server/config.ts';
import { leapingClock } from './clock.ts';

/** The server process of a soak: Parley with a clock that leaps ahead, and a second port for what only the process knows. */

/** The interval at which the delay of the event loop is measured. */
const tickMs = 20;

let expectedAt = performance.now() + tickMs;
let worstLagMs = 0;
setInterval(() => {
  const at = performance.now();
  worstLagMs = Math.max(worstLagMs, at - expectedAt);
  expectedAt = at + tickMs;
}, tickMs);

/** Returns the longest delay of the event loop since the last call. */
function selfMetrics() {
  const lagMs = worstLagMs;
  worstLagMs = 0;
  return { lagMs };
}

/** Collects all garbage first, which stops the process for some ten milliseconds. */
function heapMetrics() {
  Bun.gc(true);
  const { heapSize, objectTypeCounts } = heapStats();
  return { heapBytes: heapSize, objects: objectTypeCounts };
}

export type SelfMetrics = ReturnType<typeof selfMetrics>;
export type HeapMetrics = ReturnType<typeof heapMetrics>;

/** The number of objects of each type. */
export type ObjectCounts = Readonly<HeapMetrics['objects']>;

const { SOAK_LEAP_MS, ...settings } = process.env;
const now = leapingClock(Date.now, Number(SOAK_LEAP_MS));
const parley = await startParley(readSettings(settings), { ...processRuntime, now });
const metrics = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) => Response.json(new URL(url).pathname === '/heap' ? heapMetrics() : selfMetrics()),
});
process.once('SIGTERM', () => {
  void metrics.stop(true);
  void parley.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
console.error(`metrics on http://127.0.0.1:${metrics.port}\nlistening on ${parley.url}`);
