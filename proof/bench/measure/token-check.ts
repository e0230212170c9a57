import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { startOnServerCore } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { freshEnvironment, sendMessage, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { race } from '../race.ts';
import { first, makeChat, makeUsers } from '../scene.ts';

/** What it costs to know the caller, as a share of the processor time of all the rest of a send. */
export async function measureTokenCheck(plan: Plan): Promise<Outcome[]> {
  const env = freshEnvironment();
  await using parley = await startParley(env);
  const users = await makeUsers(parley, 16);
  const chat = await makeChat(first(users), users);
  const racer = parley.racer(users.map((user) => sendMessage(user, chat)));
  const { contender } = await race(racer, racer, plan);
  const file = `${temporaryFolder()}/micros`;
  const tokens = users.map((user) => user.token).join(' ');
  const job = { ...env, TOKENS: tokens, OUT: file, MS: String(plan.sizes.tokenCheckMs) };
  await using checking = startOnServerCore(['proof/bench/bare/token-check.ts'], job);
  while (!checking.hasEnded) await Bun.sleep(50);
  if (!(await Bun.file(file).exists())) checking.check();
  const check = Number(await Bun.file(file).text());
  const send = contender.cpuMicros ?? Number.NaN;
  const notes = [`${check.toFixed(2)} µs of ${send.toFixed(0)} µs for a send`];
  return [{ kind: 'figure', what: 'token check', value: (100 * check) / (send - check), unit: '%', bar: 5, notes }];
}
