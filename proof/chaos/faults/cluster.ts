import { wreakHavoc } from '../cluster/havoc.ts';
import { drawSchedule } from '../cluster/schedule.ts';
import { onNodesOnly } from '../frame/engines.ts';
import type { Trial } from '../frame/trial.ts';

const nodeCount = 3;

/** Nodes, what they share and those who read come and go, while people write. */
export const cluster: Trial<'crashes'> = {
  summary: 'three nodes, PostgreSQL and NATS are killed, stopped and started, all in their own time',
  seconds: 60,
  settings: {
    crashes: {
      summary: 'further crashes of PostgreSQL, one soon after the other, while all nodes are up',
      fallback: 6,
    },
  },
  nodes: nodeCount,
  inapplicable: onNodesOnly,
  wreak: async (scene, { crashes }, end) => {
    await wreakHavoc(scene, drawSchedule({ ms: scene.ms, nodes: nodeCount, crashes }, scene.seed), end);
    return undefined;
  },
};
