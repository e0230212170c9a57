/** @jsxImportSource preact */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { openSession } from './session.ts';
import './ui/tokens.css';
import './ui/base.css';
import { App, isOutdated } from './ui/app.tsx';
import { SessionContext } from './ui/context.ts';
import { startRouting } from './ui/route.ts';

const idleCheckMs = 15_000;

const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for the client');
const { userId, name = '', displayName = '', isAdmin, session = '' } = root.dataset;

/** Finds out whether the server has a newer client. */
async function checkVersion(): Promise<void> {
  const response = await fetch('/assets/client.json');
  const { scripts } = (await response.json()) as { scripts: readonly string[] };
  isOutdated.value = !scripts.some((file) => document.querySelector(`script[src$="/${file}"]`));
}

const report = (error: unknown): void => {
  // A failed call is shown where it was made, or is repeated. The rest is a mistake of ours.
  if (!(error instanceof Error) || !['ApiError', 'TransportError', 'AbortError'].includes(error.name))
    reportError(error);
};

const opened = await openSession({
  url: location.origin,
  me: { user_id: Number(userId), name, display_name: displayName, is_admin: isAdmin === 'true' },
  session,
  ended: () => location.assign('/sign-in'),
  // The connection may break again. The next one checks again.
  caughtUp: () => void checkVersion().catch(() => {}),
  onError: report,
});

const { store } = opened;
const look = () => {
  store.isVisible.value = document.visibilityState === 'visible' && document.hasFocus();
};
look();
document.addEventListener('visibilitychange', look);
addEventListener('focus', look);
addEventListener('blur', look);
addEventListener('pagehide', () => opened.flush());
addEventListener('online', () => opened.outbox.wake());
for (const act of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart', 'focus']) {
  addEventListener(act, () => opened.idle.touch(), { passive: true });
}
setInterval(() => opened.idle.check(), idleCheckMs);
effect(() => {
  const unread = store.unreadChats.value;
  document.title = unread > 0 ? `(${unread}) Parley` : 'Parley';
});

startRouting();
root.replaceChildren();
render(
  <SessionContext.Provider value={opened}>
    <App />
  </SessionContext.Provider>,
  root,
);
