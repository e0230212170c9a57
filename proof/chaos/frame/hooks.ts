import type { Client } from '../../../server/test/support/client.ts';
import { eventTip } from '../../../server/test/support/world.ts';
import type { Told } from '../evidence.ts';
import type { Endpoint } from '../receiver.ts';
import type { Stage } from './stage.ts';
import type { Endpoints } from './trial.ts';

/** A webhook, and what it is to be told of. */
export interface Hook extends Omit<Told, 'log'> {
  readonly owner: Client;
  readonly after: number;
  readonly filter: { readonly chat_id?: number };
}

/** Registers a webhook for everything that its owner sees from now on, or for one chat. */
export async function registerHook(
  name: string,
  owner: Client,
  { url, arrivals }: Endpoint,
  filter: { readonly chat_id?: number } = {},
): Promise<Hook> {
  const secret = `the secret of ${name}`;
  const { webhook } = await owner.ok('webhooks.register', { url, events: ['*'], secret, ...filter });
  return { name, webhookId: webhook.webhook_id, secret, arrivals, owner, after: await eventTip(owner), filter };
}

/** Of somebody who is everywhere, and of somebody who comes and goes: before there are chats, so that they miss nothing. */
export async function registerHooks(
  { owner, guests }: Pick<Stage, 'owner' | 'guests'>,
  { all, guest }: Pick<Endpoints, 'all' | 'guest'>,
): Promise<Hook[]> {
  return [await registerHook('all', owner, all), await registerHook('guest', guests[0], guest)];
}
