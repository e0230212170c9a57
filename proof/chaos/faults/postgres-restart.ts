import { onPostgresOnly } from '../frame/engines.ts';
import type { Trial } from '../frame/trial.ts';
import { restartDatabase } from '../frame/troubles.ts';
import { stream } from '../random.ts';

export const postgresRestart: Trial<'restarts'> = {
  summary: 'PostgreSQL is shut down in order, or crashes, and comes back',
  seconds: 30,
  settings: { restarts: { summary: 'restarts, by turns in order and by a crash', fallback: 10 } },
  inapplicable: onPostgresOnly,
  wreak: async (scene, { restarts }, end) => {
    const random = stream(scene.seed, 'restarts');
    const outages = Array.from({ length: restarts }, (_, i) => ({
      upMs: (1.5 * scene.ms * random()) / restarts,
      awayMs: 1_000 * random(),
      mode: i % 2 === 0 ? ('immediate' as const) : ('fast' as const),
    }));
    await restartDatabase(scene, outages, end);
    return undefined;
  },
};
