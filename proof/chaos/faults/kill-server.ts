import type { Trial } from '../frame/trial.ts';
import type { PlannedLife } from '../frame/troubles.ts';
import { liveAndDie } from '../frame/troubles.ts';
import { stream } from '../random.ts';

/** One in so many is killed while it starts, and may never come to listen. */
const startingOneIn = 5;
const startMs = 500;

/** So long a server is away at most. */
const awayMs = 300;

export const killServer: Trial<'kills'> = {
  summary: 'kill -9 of the server, now and then while it starts',
  seconds: 30,
  settings: { kills: { summary: 'kills of the server', fallback: 12 } },
  wreak: async (scene, { kills }, end) => {
    const random = stream(scene.seed, 'kills');
    const lives = Array.from({ length: kills }, (_, i): PlannedLife => {
      const isStarting = i % startingOneIn === startingOneIn - 1;
      const most = isStarting ? startMs : (2 * scene.ms) / kills;
      return {
        since: isStarting ? 'start' : 'healthy',
        ms: most * random(),
        ends: 'killed',
        awayMs: awayMs * random(),
      };
    });
    await liveAndDie(scene, 0, lives, end);
    await scene.nodes.untilUp(0, end);
    return undefined;
  },
};
