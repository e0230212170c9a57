import { environment, makeGroup, makeUsers } from '../../harness/stage.ts';
import type { Outcome } from '../outcome.ts';
import { Parley, runBare, sendMessage } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { race } from '../race.ts';

/** Measures what it costs to authenticate the caller, as a share of the processor time of the rest of a send. */
export async function measureTokenCheck(plan: Plan): Promise<Outcome[]> {
  const env = environment();
  await using parley = await Parley.start(env);
  const users = await makeUsers(parley.admin, 'bench', 16);
  const chat = await makeGroup(users[0], users);
  const racer = parley.racer(users.map((user) => sendMessage(user, chat)));
  const { contender } = await race(racer, racer, plan);
  const job = { tokens: users.map(({ token }) => token), ms: plan.sizes.tokenCheckMs };
  const check = await runBare<number>('token-check', job, env);
  const send = contender.cpuMicros ?? Number.NaN;
  const notes = [`${check.toFixed(2)} µs of ${send.toFixed(0)} µs for a send`];
  return [{ kind: 'figure', what: 'token check', value: (100 * check) / (send - check), unit: '%', bar: 5, notes }];
}
