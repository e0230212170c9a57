import { serverCore } from '../../harness/machine.ts';
import { median } from '../../harness/report.ts';
import { Server } from '../../harness/server.ts';
import type { EngineMeasure } from '../engines.ts';
import { usersWithFilledChat } from '../fixtures.ts';
import { memoryOf, type Outcome } from '../outcome.ts';
import { Parley } from '../parley.ts';

/** Measures how long a server takes from its start to its first response, and its memory when idle. */
export const measureStart: EngineMeasure = async ({ title, fresh }, { sizes }) => {
  const env = await fresh();
  {
    await using parley = await Parley.start(env);
    await usersWithFilledChat(parley, sizes.chatAtStart);
  }
  const seconds: number[] = [];
  const memory: Outcome[] = [];
  for (let i = 0; i < sizes.starts; i++) {
    await using server = await Server.start(env, { core: serverCore });
    await (await fetch(`${server.url}/healthz`)).text();
    seconds.push((performance.now() - server.startedAt) / 1_000);
    if (i < sizes.starts - 1) continue;
    await Bun.sleep(sizes.idleMs);
    memory.push(memoryOf(server.pid, `idle resident memory, ${title}`, 75));
  }
  return [
    { kind: 'figure', what: `start until /healthz answers, ${title}`, value: median(seconds), unit: 's', bar: 0.4 },
    ...memory,
  ];
};
