import { ApiError, type ClientOptions, type Clock, createClient, TransportError } from '@parley-chat/sdk';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { newIdempotencyKey } from '@parley-chat/sdk/request.ts';
import { type ChangedDraft, Drafts } from './outbox/drafts.ts';
import { Journal } from './outbox/journal.ts';
import { Lease } from './outbox/lease.ts';
import { type NewUnsent, Outbox } from './outbox/outbox.ts';
import { Uploads } from './outbox/uploads.ts';
import { storePerson } from './person.ts';
import { Idle } from './presence.ts';
import { deleteDatabases, openDatabase } from './store/database.ts';
import { Loader } from './store/loader.ts';
import { Persistence } from './store/persistence.ts';
import type { Me } from './store/records.ts';
import { Store } from './store/store.ts';
import { Sync } from './store/sync.ts';
import { Tabs } from './store/tabs.ts';
import { Timelines } from './store/timelines.ts';

export interface SessionOptions {
  readonly url: string;
  readonly me: Me;
  /** Changes with every sign-in. Records of another session are deleted. */
  readonly session: string;
  /** The name of this service. */
  readonly service?: string;
  /** Called as soon as the session ends, to hide what belongs to it. */
  readonly ending?: () => void;
  /** Called once the session has ended, with whether the user asked for it here. The records are deleted by then. */
  readonly ended: (isAsked: boolean) => void;
  /** Deletes what else is kept in the browser. Called with the records. */
  readonly forget?: () => Promise<void>;
  /** Called each time the connection is back. */
  readonly caughtUp?: () => void;
  /** Called with errors that no view shows. */
  readonly onError: (error: unknown) => void;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Replaces the timers of the client. */
  readonly clock?: Clock;
  readonly now?: () => number;
  /** Replaces the storage of the page. */
  readonly storage?: Storage;
  /** Replaces the channels to the other tabs. */
  readonly openChannel?: (name: string) => BroadcastChannel;
}

/** Another tab deletes the records before its session ends. This one looks so often whether it has. */
const maxLeaveTries = 6;
const leavePauseMs = 500;

/** How long the page waits until all that it keeps is deleted. */
const forgetMs = 3_000;

/** A server that has not responded by then is away. */
const signOutTimeoutMs = 10_000;

export type Session = Awaited<ReturnType<typeof openSession>>;

/** Opens the stored state, then follows the server. Resolves as soon as the stored state can be shown. */
export async function openSession(options: SessionOptions) {
  const { url, me, session, onError, now = Date.now, fetch = globalThis.fetch } = options;
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    // Somebody else may have signed in here, in another tab. The server refuses calls in their name.
    const headers = new Headers(init.headers);
    headers.set('parley-user', String(me.user_id));
    try {
      return await fetch(path, { ...init, headers });
    } catch (error) {
      if (!init.signal?.aborted) sync.suspect();
      throw error;
    }
  };
  const connection: ClientOptions = {
    url,
    token: null,
    fetch: async (path, init) => {
      if (signingOut) {
        // The stream ends with the session. Connecting again would only be refused.
        await signingOut.catch(() => {});
        stopping.signal.throwIfAborted();
      }
      return request(path, init);
    },
    ...(options.clock && { clock: options.clock }),
  };
  const client = createClient(connection);
  const store = new Store(me);
  // Somebody else may have used this browser, and left without signing out here.
  await deleteDatabases({ userId: me.user_id });
  const db = await openDatabase(me.user_id, () => void recordsDeleted());
  const stopping = new AbortController();
  const openChannel = options.openChannel ?? ((name) => new BroadcastChannel(name));
  const channel = openChannel(`parley-${me.user_id}`);
  const idleChannel = openChannel(`parley-active-${me.user_id}`);
  const streamChannel = openChannel(`parley-stream-${me.user_id}`);
  const storage = options.storage ?? localStorage;
  let isEnded = false;
  let signingOut: Promise<void> | undefined;

  const stop = () => {
    stopping.abort();
    for (const one of [sync, outbox, uploads, drafts]) one.stop();
    for (const one of [channel, streamChannel, idleChannel]) one.close();
    db.close();
  };
  const end = () => {
    isEnded = true;
    options.ending?.();
    stop();
  };
  const forget = async () => {
    end();
    // Browsers were seen not to finish while they also clear the site's data. The page for signing in deletes what is left.
    await Promise.race([Promise.all([deleteDatabases(), options.forget?.()]), systemClock.sleep(forgetMs)]);
  };
  const signedOut = () => {
    const isAsked = signingOut !== undefined;
    if (!isEnded)
      forget()
        .catch(onError)
        .finally(() => options.ended(isAsked));
  };
  /** Ends the session on the server. The records are deleted only then: what is not sent would be lost, and the user still signed in. */
  const requestSignOut = async () => {
    const init = { method: 'POST', body: new URLSearchParams(), signal: AbortSignal.timeout(signOutTimeoutMs) };
    const response = await request(`${url}/sign-out`, init).catch((cause: unknown) => {
      throw new TransportError('the server did not respond to the sign-out', { cause });
    });
    // Anything else comes from a proxy, or is an error.
    if (!response.ok || new URL(response.url).pathname !== '/sign-in')
      throw new TransportError('the server did not sign the user out', { status: response.status });
    signedOut();
  };
  const signOut = (): Promise<void> => {
    signingOut ??= requestSignOut().finally(() => {
      signingOut = undefined;
    });
    return signingOut;
  };
  /** The user signs out in another tab, or somebody else has signed in there. */
  const recordsDeleted = async () => {
    // The response to a sign-out may delete the records by a header.
    await signingOut?.catch(() => {});
    if (isEnded) return;
    end();
    // The sign-in page leads back here until the session has ended.
    for (let tries = 0; tries < maxLeaveTries && (await isStillSignedIn()); tries++)
      await systemClock.sleep(leavePauseMs);
    options.ended(false);
  };
  const isStillSignedIn = () =>
    client.users.me({}).then(
      () => true,
      (error) => !(error instanceof ApiError && error.status === 401),
    );
  const report = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) signedOut();
    // The response to a sign-out may delete the records before it is read.
    else if (signingOut) void signingOut.catch(() => {}).then(() => report(error));
    else if (!stopping.signal.aborted) onError(error);
  };

  const loader = new Loader(store, client, report);
  const timelines = new Timelines(store, client);
  const persistence = new Persistence(db, store, session, report);
  const uploads = new Uploads({
    db,
    client,
    now,
    newKey: newIdempotencyKey,
    changeFile: (key, change) => outbox.changeFile(key, change),
    onError: report,
  });
  const drafts = new Drafts(db, new Journal<ChangedDraft>(storage, 'draft', session), report);
  const outbox: Outbox = new Outbox({
    db,
    journal: new Journal<NewUnsent>(storage, 'unsent', session),
    // The outbox repeats calls itself, and says meanwhile why messages wait.
    client: createClient({ ...connection, retries: 0 }),
    store,
    uploads,
    now,
    newKey: newIdempotencyKey,
    channel,
    signedOut,
    onError: report,
  });
  const tabId = newIdempotencyKey();
  const tabs = new Tabs(tabId, new Lease(db, 'stream', tabId, now), streamChannel);
  const idle = new Idle({ client, now, channel: idleChannel, isTeller: () => tabs.isLeader, onError: report });
  const remember = () => storePerson(db, { me, session, service: options.service ?? '' });
  const caughtUp = () => {
    outbox.wake();
    uploads.wake();
    idle.reconnected();
    options.caughtUp?.();
  };
  const expired = async () => {
    store.dropTimelines();
    loader.forgetUsers();
    await persistence.clear();
    await remember();
  };
  const reached = (at: number) => persistence.reached(at);
  const newId = newIdempotencyKey;
  const sync = new Sync({ store, client, loader, tabs, now, newId, reached, caughtUp, expired, signedOut });

  const isReady = new Promise<void>((resolve) => {
    store.isReady.subscribe((isReady) => isReady && resolve());
  });
  const cursor = await persistence.load();
  remember().catch(report);
  persistence.start();
  // First: a message that it finds in the journal takes its files from the composer.
  outbox.start().catch(report);
  await Promise.all([drafts.load(), uploads.load()]);
  sync.run(cursor).catch(report);

  return {
    db,
    client,
    store,
    loader,
    timelines,
    outbox,
    drafts,
    uploads,
    idle,
    sync,
    tabs,
    /** Shows the stored messages of a chat, then the newest ones. If there are many unread ones, shows where they begin instead. */
    openChat: async (chatId: number) => {
      // Until the list is loaded, nothing says what is unread.
      if (!store.chat(chatId)) await isReady;
      const marker = store.farMarker(chatId);
      if (marker !== undefined && store.connection.peek() !== 'lost') return timelines.around(chatId, marker);
      await persistence.loadTimeline(chatId).catch(report);
      await timelines.open(chatId);
    },
    report,
    /** Stores what is new. The page may be about to go. */
    flush: () => {
      persistence.flush();
      drafts.flush();
      outbox.leave();
      uploads.leave();
    },
    stop,
    /** Ends the session, and deletes the records of this browser. Rejects, and deletes nothing, if the server does not respond. */
    signOut,
  };
}
