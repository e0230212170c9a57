/** IndexedDB with promises. The records of each user are in a database of their own. */

export type StoreName = 'meta' | 'chats' | 'users' | 'timelines' | 'leases' | WrittenStore;

/** The texts and files that the server does not have. Only the end of a session may delete them. */
export const writtenStores = ['drafts', 'outbox', 'uploads', 'bytes'] as const;
type WrittenStore = (typeof writtenStores)[number];

const prefix = 'parley-';
const version = 4;

const keys: Readonly<Record<StoreName, IDBObjectStoreParameters>> = {
  meta: {},
  chats: { keyPath: 'chat_id' },
  users: { keyPath: 'user_id' },
  timelines: {},
  drafts: {},
  outbox: { keyPath: 'seq', autoIncrement: true },
  uploads: { keyPath: 'file_id' },
  bytes: {},
  leases: {},
};

/** An upgrade does not delete these. The session in `meta` says whose they are. */
const keptStores: readonly string[] = ['meta', ...writtenStores];

/** Opens the database of a user. Calls `deleted` if another tab, or the browser, deletes it later. */
export const openDatabase = (userId: number, deleted?: () => void): Promise<IDBDatabase> =>
  withRetry(() => openOnce(userId, deleted));

function openOnce(userId: number, deleted: (() => void) | undefined): Promise<IDBDatabase> {
  const request = indexedDB.open(`${prefix}${userId}`, version);
  request.onupgradeneeded = ({ oldVersion }) => {
    if (request.transaction) upgrade(request.result, request.transaction, oldVersion);
  };
  return result(request).then((db) => {
    // Another tab deletes it at sign-out, or has a newer version of the client.
    db.onversionchange = ({ newVersion }) => {
      db.close();
      if (newVersion === null) deleted?.();
    };
    // The browser does so for `Clear-Site-Data`, and if its storage fails.
    db.onclose = () => deleted?.();
    return db;
  });
}

/** Keeps what people wrote, and deletes the other records: they are loaded again. */
function upgrade(db: IDBDatabase, tx: IDBTransaction, oldVersion: number): void {
  for (const name of [...db.objectStoreNames]) if (!keptStores.includes(name)) db.deleteObjectStore(name);
  for (const [name, options] of Object.entries(keys)) {
    if (!db.objectStoreNames.contains(name)) db.createObjectStore(name, options);
  }
  const outbox = tx.objectStore('outbox');
  if (!outbox.indexNames.contains('key')) outbox.createIndex('key', 'key', { unique: true });
  tx.objectStore('meta').delete('cursor');
  if (oldVersion > 0 && oldVersion < 4) nameConversations(tx);
}

/** Before version 4, the id of a chat was the key of its draft and of its files, and that of a thread with a minus. */
function nameConversations(tx: IDBTransaction): void {
  const nameOf = (id: number) => (id > 0 ? `chat ${id}` : `thread ${-id}`);
  eachRow(tx.objectStore('drafts'), (cursor) => {
    const id = Number(cursor.key);
    cursor.delete();
    tx.objectStore('drafts').put({ chat_id: id > 0 ? id : null, text: cursor.value }, nameOf(id));
  });
  eachRow(tx.objectStore('uploads'), (cursor) => {
    const { chat_id, ...file } = cursor.value;
    cursor.update({ ...file, conversation: nameOf(chat_id) });
  });
}

/** Visits the rows whose keys are numbers. */
function eachRow(store: IDBObjectStore, visit: (cursor: IDBCursorWithValue) => void): void {
  const request = store.openCursor(IDBKeyRange.upperBound(Number.POSITIVE_INFINITY));
  request.onsuccess = () => {
    if (!request.result) return;
    visit(request.result);
    request.result.continue();
  };
}

const databaseNames = async (): Promise<string[]> =>
  (await withRetry(() => indexedDB.databases())).flatMap(({ name }) => (name?.startsWith(prefix) ? [name] : []));

/** Returns the users with records here. */
export const databaseUsers = async (): Promise<number[]> =>
  (await databaseNames()).map((name) => Number(name.slice(prefix.length)));

/** Deletes the databases of all users, or of all others. */
export async function deleteDatabases(except?: { readonly userId: number }): Promise<void> {
  const kept = except && `${prefix}${except.userId}`;
  await Promise.all((await databaseNames()).filter((name) => name !== kept).map(deleteDatabase));
}

/** Resolves at once if a tab does not let go of it. It is deleted when that tab is gone. */
const deleteDatabase = (name: string): Promise<unknown> => {
  const request = indexedDB.deleteDatabase(name);
  return Promise.race([result(request), new Promise((resolve) => request.addEventListener('blocked', resolve))]);
};

/**
 * Runs work in one transaction. Resolves once it is stored. The work must await nothing but requests of the transaction, and may
 * run twice. Work that awaits nothing is committed at once, and often stored even if the page goes. Chromium aborts it if a
 * request fails, also if the failure is handled.
 */
export const transact = <T>(...transaction: Transaction<T>): Promise<T> =>
  withRetry(() => transactOnce(...transaction));

type Transaction<T> = [
  db: IDBDatabase,
  names: readonly StoreName[],
  mode: IDBTransactionMode,
  work: (store: (name: StoreName) => IDBObjectStore) => Promise<T> | T,
];

async function transactOnce<T>(...[db, names, mode, work]: Transaction<T>): Promise<T> {
  const tx = db.transaction(names, mode);
  const done = new Promise<void>((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new DOMException('the transaction was aborted', 'AbortError'));
  });
  // A failure of the work is the error that is thrown.
  done.catch(() => {});
  const working = work((name) => tx.objectStore(name));
  // Without this call the browser waits until the page has nothing more to write.
  if (!(working instanceof Promise)) tx.commit();
  const value = await working;
  await done;
  return value;
}

const retriesMs: readonly number[] = [500, 2_000];

/**
 * Repeats work if the browser fails for reasons of its own, which it calls `UnknownError`. Such failures were seen around reloads, and
 * on a busy machine. A page that is about to go does not get to the second attempt. What always fails is a real failure.
 */
async function withRetry<T>(work: () => Promise<T>, pauses = retriesMs): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [pause, ...later] = pauses;
    if ((error as Error | null)?.name !== 'UnknownError' || pause === undefined) throw error;
    await new Promise((resolve) => setTimeout(resolve, pause));
    return withRetry(work, later);
  }
}

export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
