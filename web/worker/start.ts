import type { Session } from '../session.ts';
import { navigate } from '../ui/route.ts';
import { hasWorkers } from './forget.ts';

/** Starts the service worker, and what needs it. The client works without. */
export function startWorker(session: Session): void {
  if (!hasWorkers()) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ kind?: unknown; path?: unknown } | null>) => {
    if (data?.kind === 'open' && typeof data.path === 'string') navigate(data.path);
  });
  const ready = serviceWorker
    .register('/assets/worker.js', { scope: '/', updateViaCache: 'none' })
    .then(() => serviceWorker.ready);
  ready.then(
    ({ active }) => active?.postMessage('started'),
    // Browsers in private mode refuse it, and servers that are away have none.
    () => {},
  );
  import('../notify/notifications.ts').then(
    ({ canNotify, Notifications, notifications }) => {
      if (canNotify()) notifications.value = new Notifications(session, ready);
    },
    () => {},
  );
}
