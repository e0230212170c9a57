import type { Scene } from '../frame/trial.ts';
import { liveAndDie, loseNats, restartDatabase } from '../frame/troubles.ts';
import type { Schedule } from './schedule.ts';

/** Everything goes wrong in its own time and without regard to the rest. Afterwards all is up again. */
export async function wreakHavoc(scene: Scene, schedule: Schedule, outOfTime: AbortSignal): Promise<void> {
  const { nodes } = scene;
  const over = new AbortController();
  const end = AbortSignal.any([outOfTime, over.signal]);
  const troubles = [
    ...schedule.nodes.map((lives, number) => liveAndDie(scene, number, lives, end)),
    loseNats(scene, schedule.nats, end),
    restartDatabase(scene, schedule.postgres, end),
  ];
  try {
    await Promise.all(troubles);
  } finally {
    // Where one of them fails, the others are not left behind.
    over.abort();
    await Promise.allSettled(troubles);
  }
  await Promise.all(nodes.numbers.map((number) => nodes.untilUp(number, outOfTime)));
  await restartDatabase(scene, schedule.crashes, outOfTime);
}
