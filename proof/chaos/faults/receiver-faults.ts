import { ownerIn } from '../frame/look.ts';
import type { Scene, Trial } from '../frame/trial.ts';
import { type Mood, moods } from '../moods.ts';
import type { Owner } from '../owner.ts';
import { pause } from '../pause.ts';
import { type Random, stream } from '../random.ts';
import { type Endpoint, Receiver } from '../receiver.ts';

/** Two endpoints are in trouble by turns; the third one is well all the time. */
const troubled = ['all', 'one chat'] as const;

const troubles = Object.keys(moods).filter((mood) => mood !== 'fine') as Mood[];

export const receiverFaults: Trial<'rounds' | 'hang'> = {
  summary: 'endpoints refuse, reset, hang, are slow, waver, drip, gush, redirect and talk nonsense',
  seconds: 40,
  settings: {
    rounds: { summary: 'times that each of these happens to each of two endpoints', fallback: 2 },
    hang: {
      summary: 'milliseconds until what hangs is broken off; the server gives up after 15,000',
      fallback: 20_000,
    },
  },
  isHurried: true,
  wreak: async (scene, { rounds, hang }, end) => {
    const receivers = troubled.map((name) => ({ name, receiver: receiverOf(scene.endpoints[name]) }));
    for (const { receiver } of receivers) receiver.hangMs = hang;
    await Promise.all(
      receivers.map(({ name, receiver }) =>
        beInTrouble(scene, receiver, stream(scene.seed, `moods of ${name}`), rounds, end),
      ),
    );
    return () => {
      const strays = receivers.reduce((sum, { receiver }) => sum + receiver.strays, 0);
      scene.tally.count('redirects that were followed', strays);
      return strays > 0 ? [`a redirect of an endpoint was followed, ${strays} times`] : [];
    };
  },
};

function receiverOf(endpoint: Endpoint): Receiver {
  if (endpoint instanceof Receiver) return endpoint;
  throw new Error('the endpoint is not in this process');
}

/** Every trouble in an order of its own, each for about as long as all of them together leave it; in between all is well. */
async function beInTrouble(
  scene: Scene,
  receiver: Receiver,
  random: Random,
  rounds: number,
  end: AbortSignal,
): Promise<void> {
  const owner = ownerIn(scene);
  const deck = Array.from({ length: rounds }, () => shuffled(troubles, random)).flat();
  for (const mood of deck) {
    for (const phase of [mood, 'fine'] as const) {
      receiver.mood = phase;
      if (phase === mood) scene.tally.count(`times of ${mood}`);
      // Otherwise it would be left alone for longer and longer, and not be met with in any mood.
      await hurry(owner, receiver.url, end);
      await untilMet(receiver, (scene.ms * random()) / deck.length, end);
    }
  }
}

/** Whoever delivers has met with a mood by then, or is still held up by the one before. */
const metMs = 3_000;

async function untilMet({ arrivals }: Receiver, ms: number, end: AbortSignal): Promise<void> {
  const before = arrivals.length;
  await pause(ms, end);
  for (const until = performance.now() + metMs; arrivals.length === before && !end.aborted; await pause(20, end)) {
    if (performance.now() > until) return;
  }
}

async function hurry(owner: Owner, url: string, end: AbortSignal): Promise<void> {
  const webhook = (await owner.behind(end)).find((one) => one.url === url);
  if (webhook) await owner.hurry(webhook, end);
}

const shuffled = <T>(of: readonly T[], random: Random): T[] =>
  of
    .map((one) => ({ one, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
