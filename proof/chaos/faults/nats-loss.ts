import { stream } from '../../harness/random.ts';
import { cutNats } from '../outages.ts';
import { onClusterOnly, type Scenario } from '../scenario.ts';

export const natsLoss: Scenario<'losses'> = {
  summary: 'two nodes lose the NATS between them, and find it again',
  seconds: 30,
  settings: { losses: { summary: 'times that NATS goes away', fallback: 6 } },
  nodes: 2,
  inapplicable: onClusterOnly,
  disturb: async (scene, { losses }, end) => {
    const random = stream(scene.seed, 'nats');
    const part = () => (scene.ms * random()) / losses;
    const outages = Array.from({ length: losses }, () => ({ upMs: part(), awayMs: part() }));
    await cutNats(scene, outages, end);
  },
};
