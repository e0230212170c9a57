import { type BehaviourName, behaviours } from '../../harness/behaviours.ts';
import { shuffled, stream } from '../../harness/random.ts';
import { sum } from '../../harness/report.ts';
import { pause, waitUntil } from '../../harness/wait.ts';
import { receiverOf, type Scenario, type Scene, webhookOwner } from '../scenario.ts';

/** Two endpoints misbehave by turns; the third one is well all the time. */
const troubled = ['all', 'one chat'] as const;

const misbehaviours = (Object.keys(behaviours) as BehaviourName[]).filter((name) => name !== 'accept');

/** A delivery meets a behaviour within this time, or is still held up by the one before. */
const meetMs = 3_000;

export const receiverFaults: Scenario<'rounds' | 'hang'> = {
  summary: `endpoints ${misbehaviours.join(', ')}`,
  seconds: 40,
  settings: {
    rounds: { summary: 'times that each of these happens to each of two endpoints', fallback: 2 },
    hang: {
      summary: 'milliseconds until a hanging connection is closed; the server gives up after 15,000',
      fallback: 20_000,
    },
  },
  isHurried: true,
  disturb: async (scene, { rounds, hang }, end) => {
    const receivers = troubled.map((name) => receiverOf(scene, name));
    for (const receiver of receivers) receiver.hangMs = hang;
    await Promise.all(troubled.map((name) => misbehave(scene, name, rounds, end)));
    return () => {
      const followed = sum(receivers, (receiver) => receiver.followedRedirects);
      scene.tally.count('redirects that were followed', followed);
      return followed > 0 ? [`a redirect of an endpoint was followed, ${followed} times`] : [];
    };
  },
};

/** Every misbehaviour in random order, each for about its share of the time; in between the endpoint accepts. */
async function misbehave(scene: Scene, name: string, rounds: number, end: AbortSignal): Promise<void> {
  const random = stream(scene.seed, `behaviours of ${name}`);
  const receiver = receiverOf(scene, name);
  const owner = webhookOwner(scene);
  const drawn = Array.from({ length: rounds }, () => shuffled(misbehaviours, random)).flat();
  for (const one of drawn) {
    scene.tally.count(`times of ${one}`);
    for (const phase of [one, 'accept'] as const) {
      receiver.behaviour = behaviours[phase];
      // Otherwise the server would leave it alone for longer and longer, and meet few behaviours.
      await owner.hurryAll(end, receiver.url);
      const before = receiver.arrivals.length;
      await pause((scene.ms * random()) / drawn.length, end);
      await waitUntil(() => receiver.arrivals.length > before, { end, ms: meetMs });
    }
  }
}
