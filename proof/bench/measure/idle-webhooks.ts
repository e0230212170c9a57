import type { Client } from '../../../server/test/support/client.ts';
import type { Outcome } from '../outcome.ts';
import { freshEnvironment, type ParleyUnderTest, sendMessage, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { race } from '../race.ts';
import { atOnce, first, makeChat, makeUsers, secret } from '../scene.ts';

const bar = 0.93;

/** Sends to a server with many webhooks that do not match, against the same server without. */
export async function measureIdleWebhooks(plan: Plan): Promise<Outcome[]> {
  const { idleWebhooks } = plan.sizes;
  await using without = await startParley(freshEnvironment());
  await using beside = await startParley(freshEnvironment());
  const racer = async (parley: ParleyUnderTest, webhooks: number) => {
    const users = await makeUsers(parley, 4);
    const chat = await makeChat(first(users), users);
    await registerIdle(parley, first(users), webhooks);
    return parley.racer(users.map((user) => sendMessage(user, chat)));
  };
  const result = await race(await racer(without, 0), await racer(beside, idleWebhooks), plan);
  const what = `sends beside ${idleWebhooks} webhooks that do not match`;
  return [{ kind: 'rates', what, bar, notes: [], ...result }];
}

/** Registers webhooks that nothing ever matches: of others, for other events, and for another chat. */
export async function registerIdle(parley: ParleyUnderTest, sender: Client, count: number): Promise<void> {
  const stranger = await parley.user('stranger');
  const elsewhere = await makeChat(sender, []);
  const url = 'http://127.0.0.1:9/hook';
  const kinds = [
    { by: stranger, input: { url, events: ['*'], secret } },
    { by: sender, input: { url, events: ['webhook_disabled'], secret } },
    { by: sender, input: { url, events: ['new_message'], secret, chat_id: elsewhere } },
  ] as const;
  await atOnce(16, count, async (n) => {
    const { by, input } = kinds[n % kinds.length] ?? kinds[0];
    await by.ok('webhooks.register', { ...input, events: [...input.events] });
  });
}
