import type { Client } from '@parley-chat/sdk';

/** Tells the server about a subscription of this browser. The same endpoint replaces the one before. */
export async function registerSubscription(
  client: Client,
  subscription: PushSubscription,
  withText: boolean,
): Promise<void> {
  const { endpoint = '', keys = {} } = subscription.toJSON();
  await client.push.subscribe({ endpoint, p256dh: keys.p256dh ?? '', auth: keys.auth ?? '', with_text: withText });
}

/** Subscribes this browser, or renews its subscription. Rejects if the browser has no push service. */
export async function subscribe(
  client: Client,
  { pushManager }: ServiceWorkerRegistration,
  withText: boolean,
): Promise<void> {
  const { public_key } = await client.push.key({});
  const known = await pushManager.getSubscription();
  // A server that was set up anew has another key. The browser refuses it while there is a subscription with the old one.
  if (known && keyOf(known) !== public_key) await known.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  await registerSubscription(client, subscription, withText);
}

/** Ends the subscription of this browser, here and at the server. */
export async function unsubscribe(client: Client, { pushManager }: ServiceWorkerRegistration): Promise<void> {
  const known = await pushManager.getSubscription();
  if (!known) return;
  const { subscriptions } = await client.push.list({});
  const registered = subscriptions.find(({ endpoint }) => endpoint === known.endpoint);
  if (registered) await client.push.unsubscribe({ subscription_id: registered.subscription_id });
  await known.unsubscribe();
}

/** Returns the key of the server that a subscription is for, in base64url. */
function keyOf({ options: { applicationServerKey } }: PushSubscription): string | undefined {
  if (!applicationServerKey) return undefined;
  const text = String.fromCharCode(...new Uint8Array(applicationServerKey));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
