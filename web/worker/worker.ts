/** The service worker: opens the client while the server is away, and shows notifications while the client is closed. */
import { openNotified, pushed, renewSubscription } from './notifications.ts';
import { scope } from './scope.ts';
import { dropOldShells, repairShell, respond, storeShell } from './shell.ts';

scope.addEventListener('install', (event) => {
  event.waitUntil(storeShell().then(() => scope.skipWaiting()));
  // The worker never responds to these requests, so they need not wait for its start.
  const paths = ['/api/*', '/uploads/*'];
  event
    .addRoutes?.(paths.map((urlPattern) => ({ condition: { urlPattern }, source: 'network' }) as const))
    .catch(() => {});
});

scope.addEventListener('activate', (event) => {
  event.waitUntil(dropOldShells());
});

scope.addEventListener('fetch', (event) => {
  const response = respond(event);
  if (response) event.respondWith(response);
});

// A page of the client has started.
scope.addEventListener('message', (event) => {
  if (event.data === 'started') event.waitUntil(repairShell());
});

scope.addEventListener('push', (event) => event.waitUntil(pushed(event.data?.json())));
scope.addEventListener('notificationclick', (event) => event.waitUntil(openNotified(event.notification)));
scope.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renewSubscription(event)));
