import { flap } from '../flapping.ts';
import { hurryNowAndThen } from '../hurry.ts';
import { drawLives, type Life } from '../lives.ts';
import type { Owner } from '../owner.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import type { Receiver } from '../receiver.ts';
import type { Tap } from './tap.ts';
import type { Traffic } from './traffic.ts';
import type { Victim } from './victim.ts';

export interface HavocParts {
  readonly seed: number;
  readonly kills: number;
  /** To be sent while it lasts. */
  readonly messages: number;
  readonly victim: Victim;
  readonly tap: Tap;
  readonly traffic: Traffic;
  readonly flapping: Receiver;
  readonly dead: Receiver;
  readonly owner: Owner;
}

/** The last server is not killed; it gets as many messages as one that lives this long. */
const lastLifeMs = 2_000;

/** The gush of messages at the end of a life comes at most so long before it. */
const gushMs = 300;

/** Kills the server time and again while messages are sent and endpoints fail. Afterwards all of them are up. */
export async function wreakHavoc(parts: HavocParts, outOfTime: AbortSignal): Promise<void> {
  const { seed, messages, traffic, flapping, dead, owner } = parts;
  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const reached = () => traffic.acknowledged.size / messages;
  const endpoints = Promise.all([
    flap(flapping, stream(seed, 'flapping'), end),
    dieForAWhile(dead, reached, seed, end),
    hurryNowAndThen(owner, flapping.url, seed, end),
  ]);
  endpoints.catch(() => over.abort());
  try {
    await liveAndDie(parts, end);
    while (reached() < 1 && !traffic.isOver && !end.aborted) await pause(20, end);
  } finally {
    over.abort();
    await endpoints;
  }
}

async function liveAndDie({ seed, kills, messages, victim, tap }: HavocParts, end: AbortSignal): Promise<void> {
  const lives: readonly Life[] = drawLives(kills, stream(seed, 'kills'));
  const random = stream(seed, 'gushes');
  const inAll = lives.reduce((sum, { ms }) => sum + ms, lastLifeMs);
  let shared = 0;
  for (const { since, ms } of lives) {
    if (end.aborted) break;
    if (since === 'healthy') await victim.untilHealthy();
    const share = Math.floor((messages * ms) / inAll);
    shared += share;
    tap.open(share, ms, gushMs * random());
    await pause(ms, end);
    await victim.kill();
    victim.start();
  }
  tap.open(messages - shared, 0, 0);
  await victim.untilHealthy();
}

/** Nobody listens on its port from some point in the first half to some point in the second. */
async function dieForAWhile(receiver: Receiver, reached: () => number, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'death');
  const [death, rebirth] = [0.1 + 0.3 * random(), 0.6 + 0.3 * random()];
  while (reached() < death && !end.aborted) await pause(20, end);
  if (end.aborted) return;
  await receiver.close();
  while (reached() < rebirth && !end.aborted) await pause(20, end);
  await receiver.open();
}
