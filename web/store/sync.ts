import { ApiError, type Client, type EventIterator, type Streamed } from '@parley-chat/sdk';
import { apply } from './apply.ts';
import type { Loader } from './loader.ts';
import type { Store } from './store.ts';

export interface SyncDeps {
  readonly store: Store;
  readonly client: Client;
  readonly loader: Loader;
  /** Called with each cursor once the store has everything up to it. */
  readonly reached: (cursor: number) => void;
  /** Called each time the connection is back and the list is up to date. */
  readonly caughtUp: () => void;
  /** Called if the stored state is too old to be continued. */
  readonly expired: () => Promise<void>;
  /** Called once the session has ended. */
  readonly signedOut: () => void;
  readonly signal: AbortSignal;
}

/** The pause after a failure that the stream does not retry itself, such as that of the list. */
const retryMs = 1_500;

/**
 * Keeps the store up to date: the list of chats, then every event after it. It starts at a stored cursor, or with the list. Ends with the
 * signal or with the session.
 */
export async function follow(deps: SyncDeps, cursor: number | undefined): Promise<void> {
  let after = cursor;
  const reached = (at: number) => {
    after = at;
    deps.reached(at);
  };
  while (!deps.signal.aborted) {
    try {
      await followOnce({ ...deps, reached }, after);
    } catch (error) {
      if (deps.signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return deps.signedOut();
      if (error instanceof ApiError && error.code === 'cursor_expired') {
        after = undefined;
        await deps.expired();
      } else {
        deps.store.connection.value = 'lost';
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}

async function followOnce(deps: SyncDeps, cursor: number | undefined): Promise<void> {
  const { store, client, loader, signal } = deps;
  // Without a stored state, the list is the snapshot, and the stream starts at its moment.
  const after = cursor ?? (await loader.loadChats());
  let isFresh = cursor === undefined;
  let refreshing: Promise<void> = Promise.resolve();
  const stream = client.events({
    after,
    signals: true,
    signal,
    onOpen: () => {
      refreshing = refresh(deps, isFresh);
      isFresh = false;
      // Its failure is thrown below, before the next event.
      refreshing.catch(() => {});
    },
    onBreak: () => {
      store.connection.value = 'lost';
    },
  });
  try {
    await stream.open();
    await consume(deps, stream, () => refreshing);
  } finally {
    await stream.return();
  }
}

/** Applies events one by one. Ends with an error. */
async function consume(
  { store, loader, reached }: SyncDeps,
  stream: EventIterator<Streamed>,
  refreshing: () => Promise<void>,
): Promise<never> {
  for (;;) {
    // The list must not overwrite what a later event changed, so events wait for it. A failed list is loaded again.
    await refreshing();
    reached(stream.cursor ?? 0);
    const { value } = await stream.next();
    await refreshing();
    if (value) apply(store, value, loader);
  }
}

/** The presence of people is not in the log. It is not worth waiting for. */
const later = (load: Promise<void>): void => void load.catch(() => {});

/** Read markers of other devices are not in the log, so the list is loaded after every reconnect. */
async function refresh({ store, loader, caughtUp }: SyncDeps, isFresh: boolean): Promise<void> {
  if (!isFresh) await loader.loadChats();
  store.isReady.value = true;
  store.connection.value = 'live';
  loader.threads();
  later(loader.loadPresence());
  caughtUp();
}
