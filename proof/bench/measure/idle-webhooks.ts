import type { Client } from '../../../server/test/support/client.ts';
import { environment, inParallel, makeGroup } from '../../harness/stage.ts';
import { secret, usersWithChat } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import { Parley, sendMessage } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { type Racer, race } from '../race.ts';

const bar = 0.93;

/** Sends to a server with many webhooks that do not match, against the same server without. */
export async function measureIdleWebhooks(plan: Plan): Promise<Outcome[]> {
  const { idleWebhooks } = plan.sizes;
  await using without = await Parley.start(environment());
  await using beside = await Parley.start(environment());
  const racers = [await sendsBesideIdle(without, 0), await sendsBesideIdle(beside, idleWebhooks)] as const;
  const what = `sends beside ${idleWebhooks} webhooks that do not match`;
  return [{ kind: 'rates', what, bar, notes: [], ...(await race(...racers, plan)) }];
}

/** Registers webhooks that never match, and returns a racer that sends. */
export async function sendsBesideIdle(parley: Parley, webhooks: number): Promise<Racer> {
  const { users, chat } = await usersWithChat(parley);
  await registerIdle(parley, users[0], webhooks);
  return parley.racer(users.map((user) => sendMessage(user, chat)));
}

/** They belong to a stranger, or are for other events, or for another chat. */
async function registerIdle(parley: Parley, sender: Client, count: number): Promise<void> {
  const stranger = await parley.user('stranger');
  const elsewhere = await makeGroup(sender, []);
  const url = 'http://127.0.0.1:9/hook';
  const kinds = [
    { by: stranger, input: { url, events: ['*'], secret } },
    { by: sender, input: { url, events: ['webhook_disabled'], secret } },
    { by: sender, input: { url, events: ['new_message'], secret, chat_id: elsewhere } },
  ] as const;
  await inParallel(16, count, (n) => {
    const { by, input } = kinds[n % kinds.length] ?? kinds[0];
    return by.ok('webhooks.register', { ...input, events: [...input.events] });
  });
}
