import { invalidField, ParleyError } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import { findQuietHours, setQuietHours } from '../store/access/quiet-hours.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import {
  countOthers,
  deleteSubscription,
  listSubscriptions,
  replaceSubscription,
} from '../store/push/subscriptions.ts';
import { requireValidToken } from './access.ts';
import { change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

/** Each browser of a person has one. */
const maxSubscriptions = 20;

export const pushHandlers = (services: Services) => {
  const { engine, push } = services;
  return {
    'push.key': async () => ({ public_key: push.publicKey }),

    'push.subscribe': async (call) => {
      const { caller, input, isForwarded } = call;
      requirePerson(caller);
      if (!push.isReceiverKey(input.p256dh)) throw invalidField('p256dh', 'must be a point of P-256');
      const isAdmin = caller.isAdmin && caller.scopes.has('admin');
      // Before the transaction, because a DNS lookup may take long.
      const endpoint = await push.checkEndpoint(input.endpoint, { isForwarded: isForwarded(), isAdmin });
      return change<'push.subscribe'>(services, async (tx, at) => {
        const { userId, appId, tokenId } = caller;
        await lockTokensOf(tx, userId);
        await requireValidToken(tx, caller);
        if ((await countOthers(tx, userId, endpoint)) >= maxSubscriptions) {
          throw new ParleyError('conflict', `You have ${maxSubscriptions} push subscriptions. Delete one first.`);
        }
        const { p256dh, auth, with_text } = input;
        const keys = { p256dh: withoutPadding(p256dh), auth: withoutPadding(auth) };
        const row = await replaceSubscription(
          tx,
          { userId, appId, tokenId, endpoint, ...keys, withText: with_text },
          at,
        );
        return { subscription: present.pushSubscription(row) };
      })(call);
    },

    'push.list': async ({ caller }) => {
      requirePerson(caller);
      return { subscriptions: (await listSubscriptions(engine, caller)).map(present.pushSubscription) };
    },

    'push.unsubscribe': change(services, async (tx, _at, { caller, input }) => {
      requirePerson(caller);
      const row = await deleteSubscription(tx, caller, input.subscription_id);
      if (!row) throw new ParleyError('not_found', 'You have no such push subscription.');
      return { subscription: present.pushSubscription(row) };
    }),

    'users.quiet_hours': async ({ caller }) => {
      requirePerson(caller);
      return { quiet_hours: await findQuietHours(engine, caller.userId) };
    },

    'users.set_quiet_hours': change(services, async (tx, _at, { caller, input: { from, to, time_zone } }) => {
      requirePerson(caller);
      const hours = from && to && time_zone ? { from, to, time_zone } : null;
      await setQuietHours(tx, caller.userId, hours);
      return { quiet_hours: hours };
    }),
  } satisfies Partial<Handlers>;
};

const withoutPadding = (key: string): string => key.replace(/=+$/, '');

function requirePerson({ userId, ownerId }: Caller): void {
  if (userId !== ownerId) throw new ParleyError('forbidden', 'Notifications are for people. A bot has webhooks.');
}
