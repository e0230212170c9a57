/** Everything that the client keeps in the browser has a name that begins with this. */
const prefix = 'parley-';
export const shellPrefix = `${prefix}shell-`;

/** Browsers have workers only over https and at localhost. */
export const hasWorkers = (): boolean => isSecureContext && 'serviceWorker' in navigator;

/** Deletes what the client keeps beside its records. */
export async function forgetBrowser(): Promise<void> {
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) localStorage.removeItem(name);
  if (!hasWorkers()) return;
  // Each of them by itself: a browser that does not finish one must not keep the others.
  await Promise.all([navigator.clearAppBadge?.().catch(() => {}), deleteShells(), removeWorker()]);
}

async function deleteShells(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(shellPrefix));
  await Promise.all(shells.map((name) => caches.delete(name)));
}

/** Removes the worker. The browser ends its push subscription with it. */
async function removeWorker(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration('/');
  if (!registration) return;
  const closing = registration.getNotifications().then((all) => {
    for (const notification of all) notification.close();
  });
  await Promise.all([closing, registration.unregister()]);
}
