import { type BehaviourName, behaviours } from '../../harness/behaviours.ts';
import { between, pick, stream } from '../../harness/random.ts';
import type { Receiver } from '../../harness/receiver.ts';
import { pause } from '../../harness/wait.ts';
import { beside, hurryNowAndThen, receiverOf, type Scenario, type Scene, webhookOwner } from '../scenario.ts';
import { drawLives } from '../schedule.ts';
import { makeVolume, type Volume } from '../volume.ts';

/** The messages that are sent after the kills, spread over this time. */
const maxHeldBack = 200;
const heldBackMs = 30_000;

/** The last server is not killed. It gets as many messages as one that lives this long. */
const lastLifeMs = 2_000;

/** The burst of messages at the end of a life comes at most so long before it. */
const burstMs = 300;

/**
 * A healthy endpoint with undelivered events gets a request within this time. A hanging request may still take its 15 s, and
 * on PostgreSQL the leases of a dead process 5 s.
 */
const maxSilenceMs = 25_000;

/** An endpoint without a request for so long will not get one any more. */
const stuckMs = 60_000;

const nearSeconds = 1;

export const webhooks: Scenario<'messages' | 'chats' | 'kills'> = {
  summary: 'kill -9 of the server under load, with three webhooks: one good, one flapping, one dead for a while',
  seconds: 20,
  settings: {
    messages: { summary: 'messages to send', fallback: 20_000 },
    chats: { summary: 'groups that they go to', fallback: 20 },
    kills: { summary: 'kills of the server', fallback: 30 },
  },
  groups: ({ chats }) => chats,
  endpoints: ['flapping', 'dead'],
  isHurried: true,
  disturb: async (scene, { messages, kills }, outOfTime) => {
    const heldBack = Math.min(maxHeldBack, Math.floor(messages / 10));
    const volume = makeVolume(scene.traffic, messages);
    const flapping = receiverOf(scene, 'flapping');
    const share = () => volume.acknowledged() / (messages - heldBack);
    await beside(
      outOfTime,
      (end) => volume.run(end),
      async (sending) => {
        await beside(
          sending,
          (end) =>
            Promise.all([
              flap(flapping, scene.seed, end),
              closeForAWhile(receiverOf(scene, 'dead'), share, scene.seed, end),
              hurryNowAndThen(scene, flapping.url, end),
            ]),
          async (end) => {
            await killAgainAndAgain(scene, volume, messages - heldBack, kills, end);
            while (share() < 1 && !end.aborted) await pause(20, end);
          },
        );
        volume.allow(heldBack, heldBackMs);
        await catchUp(scene, volume, sending);
      },
    );
  },
};

async function killAgainAndAgain(
  { seed, nodes, tally }: Scene,
  volume: Volume,
  messages: number,
  kills: number,
  end: AbortSignal,
): Promise<void> {
  const lives = drawLives(kills, stream(seed, 'kills'));
  const random = stream(seed, 'bursts');
  const totalMs = lives.reduce((sum, { ms }) => sum + ms, lastLifeMs);
  let allowed = 0;
  for (const { since, ms } of lives) {
    if (end.aborted) break;
    if (since === 'healthy') await nodes.untilUp(0, end);
    const share = Math.floor((messages * ms) / totalMs);
    allowed += share;
    volume.allow(share, ms, burstMs * random());
    await pause(ms, end);
    tally.count('kills of a server');
    await nodes.kill(0);
    nodes.begin(0);
  }
  volume.allow(messages - allowed);
  await nodes.untilUp(0, end);
}

type Phase = readonly [behaviour: BehaviourName, ms: readonly [min: number, max: number]];

const good: Phase = ['accept', [500, 4_000]];

const bad: readonly [Phase, ...Phase[]] = [
  ['refuse', [200, 1_500]],
  ['reset', [100, 1_000]],
  // A connection hangs beyond its phase, until the sender gives up or is killed.
  ['hang', [100, 1_000]],
  ['slow', [500, 3_000]],
  ['flaky', [500, 3_000]],
  ['garbage', [100, 1_000]],
  ['redirect', [200, 1_500]],
  ['drip', [200, 1_500]],
  ['flood', [200, 1_500]],
];

/** An endpoint behaves well and badly by turns. In the end it is well. */
async function flap(receiver: Receiver, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'flapping');
  for (let turn = 0; !end.aborted; turn++) {
    const [behaviour, ms] = turn % 2 === 0 ? good : pick(random, bad);
    receiver.behaviour = behaviours[behaviour];
    await pause(between(random, ms), end);
  }
  receiver.behaviour = behaviours.accept;
}

/** An endpoint is closed from some point in the first half of the messages to some point in the second. */
async function closeForAWhile(receiver: Receiver, share: () => number, seed: number, end: AbortSignal): Promise<void> {
  const random = stream(seed, 'death');
  const [closed, opened] = [0.1 + 0.3 * random(), 0.6 + 0.3 * random()];
  while (share() < closed && !end.aborted) await pause(20, end);
  if (end.aborted) return;
  await receiver.close();
  while (share() < opened && !end.aborted) await pause(20, end);
  await receiver.open();
}

/** Waits until all endpoints are near the present. Each must get requests all the time while it has undelivered events. */
async function catchUp(scene: Scene, volume: Volume, end: AbortSignal): Promise<void> {
  const owner = webhookOwner(scene);
  const heard = new Map<string, { count: number; at: number }>();
  const silent = new Set<string>();
  while (!end.aborted) {
    const behind = await owner.behind(end);
    const isNear = behind.every(({ oldest_undelivered_age: age }) => (age ?? 0) <= nearSeconds);
    if (isNear && volume.isDone()) return;
    if (isNear) volume.allow(0);
    const now = performance.now();
    for (const [name, { url, arrivals }] of scene.endpoints) {
      const last = heard.get(name);
      const isWaiting = behind.some((webhook) => webhook.url === url) && last?.count === arrivals.length;
      const at = isWaiting ? last.at : now;
      heard.set(name, { count: arrivals.length, at });
      if (now - at > stuckMs) return;
      if (now - at <= maxSilenceMs || silent.has(name)) continue;
      silent.add(name);
      scene.tally.breach(`${name}: got no request for more than ${maxSilenceMs / 1_000} s while it was well`);
    }
    await owner.hurryAll(end);
    await pause(500, end);
  }
}
