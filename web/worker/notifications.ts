import { createClient } from '@parley-chat/sdk';
import { type MessageNotice, showNotice, targetOf } from '../notify/notice.ts';
import { registerSubscription } from '../notify/subscription.ts';
import { isWatched } from '../notify/watch.ts';
import { chatPath, parseRoute } from '../ui/route.ts';
import { type SubscriptionChangeEvent, scope } from './scope.ts';

/** Shows what the server has pushed, unless somebody looks at the client. */
export async function pushed(payload: unknown): Promise<void> {
  const notice = payload as MessageNotice | undefined;
  if (notice?.kind !== 'message') return;
  if (notice.badge !== undefined) await scope.navigator.setAppBadge?.(notice.badge).catch(() => {});
  if (!(await isWatched())) await showNotice(scope.registration, notice);
}

/** Shows the message of a notification in a tab that is open, or else in a new one. */
export async function openNotified(notification: Notification): Promise<void> {
  notification.close();
  const target = targetOf(notification);
  if (!target) return;
  const path = chatPath(target.chat_id, target.message_id);
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  // A tab may show a page of the account instead.
  const tabs = windows.filter(({ url }) => parseRoute(url.slice(scope.location.origin.length)));
  const tab = tabs.find(({ focused }) => focused) ?? tabs[0];
  if (!tab) {
    await scope.clients.openWindow(path);
    return;
  }
  tab.postMessage({ kind: 'open', path });
  await tab.focus().catch(() => {});
}

/**
 * The browser has replaced the subscription. The server learns of the new one, if the old one belongs to the person who is
 * signed in. If not, the next start of the client subscribes.
 */
export async function renewSubscription({ oldSubscription, newSubscription }: SubscriptionChangeEvent): Promise<void> {
  const client = createClient({ url: scope.location.origin, token: null });
  const { subscriptions } = await client.push.list({});
  const old = subscriptions.find(({ endpoint }) => endpoint === oldSubscription?.endpoint);
  if (!old) return;
  const subscribe = async () =>
    scope.registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: (await client.push.key({})).public_key,
    });
  await registerSubscription(client, newSubscription ?? (await subscribe()), old.with_text);
  await client.push.unsubscribe({ subscription_id: old.subscription_id });
}
