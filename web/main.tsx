/** @jsxImportSource preact */
import { render } from 'preact';
import { Batch } from './lib/batch.ts';
import { afterTyping, watchKeys } from './lib/typing-pause.ts';
import { showBadge } from './notify/badge.ts';
import { type Person, personOf, storedPerson } from './person.ts';
import { openSession } from './session.ts';
import { text } from './text/text.ts';
import './ui/tokens.css';
import './ui/base.css';
import { App, isOutdated } from './ui/app.tsx';
import { Away } from './ui/away.tsx';
import { SessionContext } from './ui/context.ts';
import { makeRoomForKeyboard } from './ui/keyboard.ts';
import { loadParts } from './ui/later.tsx';
import { pageTitle } from './ui/page-title.ts';
import { parseRoute, startRouting } from './ui/route.ts';
import { forgetBrowser } from './worker/forget.ts';
import { startWorker } from './worker/start.ts';

const idleCheckMs = 15_000;

/** The count waits for so long, because the client marks messages of the open chat as read in this time. */
const unreadMs = 1_000;

/** The first chat has appeared by then. */
const partsMs = 2_000;
/** How often a tab looks whether the one with the stream is still there. */
const leaderCheckMs = 3_000;

const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for the client');

/** Finds out whether the server has a newer client. */
async function checkVersion(): Promise<void> {
  const response = await fetch('/assets/client.json');
  const { scripts } = (await response.json()) as { scripts: readonly string[] };
  isOutdated.value = !scripts.some((file) => document.querySelector(`script[src$="/${file}"]`));
}

/** Opens the page for signing in. Unless the user has asked for it, the page says why, and leads back here. */
function leave(isAsked: boolean): void {
  const next = new URLSearchParams({ next: `${location.pathname}${location.search}` });
  // A browser that has kept this page would show it empty at Back.
  window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  location.assign(isAsked ? '/sign-in' : `/sign-in?${next}`);
}

const report = (error: unknown): void => {
  // A failed call is shown where it was made, or is repeated. The rest is a mistake of ours.
  if (!(error instanceof Error) || !['ApiError', 'TransportError', 'AbortError'].includes(error.name))
    reportError(error);
};

async function start(root: HTMLElement, person: Person): Promise<void> {
  const opened = await openSession({
    url: location.origin,
    ...person,
    ending: () => render(null, root),
    ended: leave,
    forget: forgetBrowser,
    // The connection may break again. The next one checks again.
    caughtUp: () => void checkVersion().catch(() => {}),
    onError: report,
  });

  const { store } = opened;
  store.serviceName.value = person.service;
  const look = () => {
    store.isVisible.value = document.visibilityState === 'visible' && document.hasFocus();
  };
  look();
  document.addEventListener('visibilitychange', look);
  addEventListener('focus', look);
  addEventListener('blur', look);
  addEventListener('pagehide', () => {
    opened.flush();
    opened.tabs.leave();
  });
  addEventListener('online', () => opened.outbox.wake());
  // A server on this machine or in this network may still be there without the Internet. Connecting finds out.
  for (const change of ['online', 'offline']) addEventListener(change, () => opened.sync.reconnect());
  for (const act of ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart', 'focus']) {
    addEventListener(act, () => opened.idle.touch(), { passive: true });
  }
  if (document.visibilityState === 'visible') opened.idle.touch();
  setInterval(() => opened.idle.check(), idleCheckMs);
  setInterval(() => opened.tabs.check(), leaderCheckMs);
  let unreadChats = 0;
  const showTitle = () => {
    const title = text.page.title({ page: pageTitle.peek(), service: store.serviceName.peek(), unreadChats });
    if (document.title !== title) document.title = title;
  };
  const unread = new Batch<'unread'>(unreadMs, () => {
    unreadChats = store.unreadChats.peek();
    showTitle();
    showBadge(unreadChats);
  });
  store.unreadChats.subscribe(() => unread.add('unread'));
  store.serviceName.subscribe(showTitle);
  pageTitle.subscribe(showTitle);

  watchKeys();
  startRouting();
  makeRoomForKeyboard();
  root.replaceChildren();
  render(
    <SessionContext.Provider value={opened}>
      <App />
    </SessionContext.Provider>,
    root,
  );
  startWorker(opened);
  afterTyping(loadParts, partsMs);
}

document.documentElement.lang = text.language;
// At the path of an account page the worker responds with the shell to say that the server is away.
const isOurs = parseRoute(`${location.pathname}${location.search}`) !== undefined;
const person = personOf(root) ?? (isOurs ? await storedPerson() : undefined);
if (person) await start(root, person);
else {
  root.replaceChildren();
  render(<Away />, root);
}
