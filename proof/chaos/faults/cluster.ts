import { cutNats, restartDatabase, runLives } from '../outages.ts';
import { onClusterOnly, type Scenario } from '../scenario.ts';
import { drawSchedule } from '../schedule.ts';

const nodeCount = 3;

export const cluster: Scenario<'crashes'> = {
  summary: 'three nodes, PostgreSQL and NATS are killed, stopped and started, each on its own schedule',
  seconds: 60,
  settings: {
    crashes: {
      summary: 'further crashes of PostgreSQL, one soon after the other, while all nodes are up',
      fallback: 6,
    },
  },
  nodes: nodeCount,
  inapplicable: onClusterOnly,
  disturb: async (scene, { crashes }, outOfTime) => {
    const { nodes } = scene;
    const schedule = drawSchedule({ ms: scene.ms, nodes: nodeCount, crashes }, scene.seed);
    const over = new AbortController();
    const end = AbortSignal.any([outOfTime, over.signal]);
    const failures = [
      ...schedule.nodes.map((lives, number) => runLives(scene, number, lives, end)),
      cutNats(scene, schedule.nats, end),
      restartDatabase(scene, schedule.postgres, end),
    ];
    try {
      await Promise.all(failures);
    } finally {
      // If one of them fails, the others end too.
      over.abort();
      await Promise.allSettled(failures);
    }
    await Promise.all(nodes.numbers.map((number) => nodes.untilUp(number, outOfTime)));
    await restartDatabase(scene, schedule.crashes, outOfTime);
  },
};
