import { stream } from '../../harness/random.ts';
import { runLives } from '../outages.ts';
import type { Scenario } from '../scenario.ts';
import type { PlannedLife } from '../schedule.ts';

/** One in so many is killed during its start, and may never come to listen. */
const startingOneIn = 5;
const startMs = 500;

const maxAwayMs = 300;

export const killServer: Scenario<'kills'> = {
  summary: 'kill -9 of the server, now and then during its start',
  seconds: 30,
  settings: { kills: { summary: 'kills of the server', fallback: 12 } },
  disturb: async (scene, { kills }, end) => {
    const random = stream(scene.seed, 'kills');
    const lives = Array.from({ length: kills }, (_, i): PlannedLife => {
      const isStarting = i % startingOneIn === startingOneIn - 1;
      const ms = (isStarting ? startMs : (2 * scene.ms) / kills) * random();
      return { since: isStarting ? 'start' : 'healthy', ms, ends: 'killed', awayMs: maxAwayMs * random() };
    });
    await runLives(scene, 0, lives, end);
    await scene.nodes.untilUp(0, end);
  },
};
