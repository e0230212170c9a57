import { readSettings } from '../../../server/config.ts';
import { openAsGuest } from '../../../server/store/open.ts';
import { Breaches } from '../breaches.ts';
import type { Environment, Trial } from '../frame/trial.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import { cutOffBy, type Stop } from '../verdicts.ts';

/** Sends that come at once, at most so long before the signal. */
const burstSize = 64;
const burstMs = 40;

/** A server that is asked to stop answers what it has taken in. What it did not take in is cut off, and has not come to pass. */
export const sigterm: Trial<'stops'> = {
  summary: 'SIGTERM under load: the server ends by itself, with code 0, and cuts off nothing that came to pass',
  seconds: 20,
  settings: { stops: { summary: 'stops of the server', fallback: 8 } },
  wreak: async ({ seed, ms, nodes, environments, calls, traffic, tally }, { stops }, end) => {
    const random = stream(seed, 'stops');
    const seen: Stop[] = [];
    let longest = 0;
    for (let i = 0; i < stops && !end.aborted; i++) {
      await pause(((2 * ms) / stops) * random(), end);
      const from = calls.answers.length;
      // So that the signal meets a server with much under way.
      const burst = traffic.burst(`burst ${i}`, burstSize, end);
      await pause(burstMs * random(), end);
      tally.count('stops of a server');
      const began = performance.now();
      await nodes.stop(0);
      longest = Math.max(longest, performance.now() - began);
      // Whoever was cut off is told so in the next turns.
      await pause(20, end);
      const to = calls.answers.length;
      seen.push({ from, to, lastMessageId: await lastMessageId(environments[0] ?? {}) });
      await nodes.untilUp(0, end);
      await burst;
    }
    tally.tell('milliseconds that a stop took at most', Math.round(longest).toLocaleString('en'));
    return ({ answers }) => {
      const { cutOff, done } = cutOffBy(seen, answers, traffic.keys);
      tally.count('sends that were cut off by a stop', cutOff);
      tally.count('of these, those that had come to pass', done.length);
      const breaches = new Breaches();
      breaches.add('cut off by a server that stopped, though it had come to pass', done, (id) => `message ${id}`);
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
