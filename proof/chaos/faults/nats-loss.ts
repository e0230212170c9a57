import { onNodesOnly } from '../frame/engines.ts';
import type { Trial } from '../frame/trial.ts';
import { loseNats } from '../frame/troubles.ts';
import { stream } from '../random.ts';

export const natsLoss: Trial<'losses'> = {
  summary: 'two nodes lose the NATS between them, and find it again',
  seconds: 30,
  settings: { losses: { summary: 'times that NATS goes away', fallback: 6 } },
  nodes: 2,
  inapplicable: onNodesOnly,
  wreak: async (scene, { losses }, end) => {
    const random = stream(scene.seed, 'nats');
    const outages = Array.from({ length: losses }, () => ({
      upMs: (scene.ms * random()) / losses,
      awayMs: (scene.ms * random()) / losses,
    }));
    await loseNats(scene, outages, end);
    return undefined;
  },
};
