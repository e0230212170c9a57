import { stream } from '../../harness/random.ts';
import { restartDatabase } from '../outages.ts';
import { onPostgresOnly, type Scenario } from '../scenario.ts';

export const postgresRestart: Scenario<'restarts'> = {
  summary: 'PostgreSQL is shut down in order, or crashes, and comes back',
  seconds: 30,
  settings: { restarts: { summary: 'restarts, by turns in order and by a crash', fallback: 10 } },
  inapplicable: onPostgresOnly,
  disturb: async (scene, { restarts }, end) => {
    const random = stream(scene.seed, 'restarts');
    const outages = Array.from({ length: restarts }, (_, i) => ({
      upMs: (1.5 * scene.ms * random()) / restarts,
      awayMs: 1_000 * random(),
      mode: i % 2 === 0 ? ('immediate' as const) : ('fast' as const),
    }));
    await restartDatabase(scene, outages, end);
  },
};
