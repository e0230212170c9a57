import { readSettings } from '../../../server/config.ts';
import { openAsGuest } from '../../../server/store/engine/open.ts';
import { Breaches } from '../../harness/check.ts';
import type { Environment } from '../../harness/child.ts';
import { stream } from '../../harness/random.ts';
import { figure } from '../../harness/report.ts';
import { pause } from '../../harness/wait.ts';
import type { Scenario } from '../scenario.ts';
import { cutOffBy, type Stop } from '../verdicts.ts';

/** Concurrent sends, at most so long before the signal: it hits a server with much in flight. */
const burstSize = 64;
const burstMs = 40;

/** A server that stops responds to what it has accepted. What it did not accept is cut off, and has no effect. */
export const sigterm: Scenario<'stops'> = {
  summary: 'SIGTERM under load: the server ends by itself, with code 0, and cuts off nothing that took effect',
  seconds: 20,
  settings: { stops: { summary: 'stops of the server', fallback: 8 } },
  disturb: async ({ seed, ms, nodes, environments, calls, traffic, tally }, { stops }, end) => {
    const random = stream(seed, 'stops');
    const seen: Stop[] = [];
    let longest = 0;
    for (let i = 0; i < stops && !end.aborted; i++) {
      await pause(((2 * ms) / stops) * random(), end);
      const from = calls.answers.length;
      const burst = Promise.all(Array.from({ length: burstSize }, (_, n) => traffic.sendExtra(`burst ${i} ${n}`, end)));
      await pause(burstMs * random(), end);
      tally.count('stops of a server');
      const began = performance.now();
      await nodes.stop(0);
      longest = Math.max(longest, performance.now() - began);
      // Clients notice a broken connection in the next turns of the event loop.
      await pause(20, end);
      const to = calls.answers.length;
      seen.push({ from, to, lastMessageId: await lastMessageId(environments[0] ?? {}) });
      await nodes.untilUp(0, end);
      await burst;
    }
    tally.note('milliseconds of the longest stop', figure(Math.round(longest)));
    return ({ answers }) => {
      const { cutOff, done } = cutOffBy(seen, answers, traffic.keys);
      tally.count('sends that were cut off by a stop', cutOff);
      tally.count('of these, those that had taken effect', done.length);
      const breaches = new Breaches();
      breaches.add('cut off by a server that stopped, though it had taken effect', done, (id) => `message ${id}`);
      return breaches.lines;
    };
  },
};

async function lastMessageId(environment: Environment): Promise<number> {
  const engine = await openAsGuest(readSettings(environment));
  try {
    const row = await engine.get<{ id: number | null }>('SELECT max(message_id) AS id FROM messages');
    return Number(row?.id ?? 0);
  } finally {
    await engine.close();
  }
}
