import { freePort } from '../../../server/test/support/postgres.ts';
import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import { startOnServerCore, untilHealthy } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median } from '../race.ts';
import { makeFilledChat, makeUsers } from '../scene.ts';
import { memoryOf } from './memory.ts';

/** How long a server takes to answer after it was started, and what it needs while nobody asks. */
export function measureStart(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `start, ${title}`, async (fresh) => start(title, await fresh(), plan));
}

async function start(title: string, env: Record<string, string>, { sizes }: Plan): Promise<Outcome[]> {
  {
    await using parley = await startParley(env);
    await makeFilledChat(parley, await makeUsers(parley, 4), sizes.chatAtStart);
  }
  const seconds: number[] = [];
  const memory: Outcome[] = [];
  for (let i = 0; i < sizes.starts; i++) {
    const port = await freePort();
    const began = performance.now();
    await using child = startOnServerCore(['server/main.ts'], { ...env, PORT: String(port) });
    await untilHealthy(child, port);
    seconds.push((performance.now() - began) / 1_000);
    if (i < sizes.starts - 1) continue;
    await Bun.sleep(sizes.idleMs);
    memory.push(memoryOf(child.pid, `idle resident memory, ${title}`, 80));
  }
  return [
    { kind: 'figure', what: `start until /healthz answers, ${title}`, value: median(seconds), unit: 's', bar: 0.5 },
    ...memory,
  ];
}
