import { ApiError, type Clock, createClient } from '@parley-chat/sdk';
import { newIdempotencyKey } from '@parley-chat/sdk/request.ts';
import { Drafts } from './outbox/drafts.ts';
import { Outbox } from './outbox/outbox.ts';
import { Uploads } from './outbox/uploads.ts';
import { Idle } from './presence.ts';
import { deleteDatabases, openDatabase } from './store/database.ts';
import { Loader } from './store/loader.ts';
import { Persistence } from './store/persistence.ts';
import type { Me } from './store/records.ts';
import { Store } from './store/store.ts';
import { follow } from './store/sync.ts';
import { Timelines } from './store/timelines.ts';

export interface SessionOptions {
  readonly url: string;
  readonly me: Me;
  /** Changes with every sign-in. Records of another session are deleted. */
  readonly session: string;
  /** Called once the session has ended. The records are deleted by then. */
  readonly ended: () => void;
  /** Called each time the connection is back. */
  readonly caughtUp?: () => void;
  /** Called with errors that no view shows. */
  readonly onError: (error: unknown) => void;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Replaces the timers of the client. */
  readonly clock?: Clock;
  readonly now?: () => number;
}

export type Session = Awaited<ReturnType<typeof openSession>>;

/** Opens the stored state, then follows the server. Resolves as soon as the stored state can be shown. */
export async function openSession(options: SessionOptions) {
  const { url, me, session, onError, now = Date.now } = options;
  const client = createClient({
    url,
    token: null,
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.clock && { clock: options.clock }),
  });
  const store = new Store(me);
  // Somebody else may have used this browser, and left without signing out here.
  await deleteDatabases({ userId: me.user_id });
  const db = await openDatabase(me.user_id);
  const stopping = new AbortController();
  const channel = new BroadcastChannel(`parley-${me.user_id}`);
  let isEnded = false;

  const stop = () => {
    stopping.abort();
    outbox.stop();
    uploads.stop();
    channel.close();
    idleChannel.close();
    db.close();
  };
  const forget = async () => {
    isEnded = true;
    stop();
    await deleteDatabases();
  };
  const signedOut = () => {
    if (!isEnded) forget().catch(onError).finally(options.ended);
  };
  const report = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) signedOut();
    else if (!stopping.signal.aborted) onError(error);
  };

  const loader = new Loader(store, client, report);
  const timelines = new Timelines(store, client);
  const persistence = new Persistence(db, store, session, report);
  const outbox = new Outbox({
    db,
    client,
    store,
    now,
    newKey: newIdempotencyKey,
    channel,
    signedOut,
    onError: report,
  });
  const uploads = new Uploads({ db, client, now, onError: report });
  store.listen({ messageAdded: (message) => outbox.recognize(message) });

  const cursor = await persistence.load();
  const drafts = new Drafts(db, report);
  await Promise.all([drafts.load(), uploads.load()]);
  persistence.start();
  outbox.start().catch(report);
  const idleChannel = new BroadcastChannel(`parley-active-${me.user_id}`);
  const idle = new Idle({ client, now, channel: idleChannel, onError: report });
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
  };
  const reached = (at: number) => persistence.reached(at);
  follow({ store, client, loader, reached, caughtUp, expired, signedOut, signal: stopping.signal }, cursor).catch(
    report,
  );

  return {
    client,
    store,
    loader,
    timelines,
    outbox,
    drafts,
    uploads,
    idle,
    /** Shows the stored messages of a chat, then the newest ones. */
    openChat: async (chatId: number) => {
      await persistence.loadTimeline(chatId).catch(report);
      await timelines.open(chatId);
    },
    report,
    /** Stores what is new. The page may be about to go. */
    flush: () => {
      persistence.flush();
      outbox.leave();
    },
    stop,
    /** Deletes the records of this browser, before the session ends. */
    forget,
  };
}
