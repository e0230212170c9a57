/** IndexedDB with promises. The records of each user are in a database of their own. */

export type StoreName = 'meta' | 'chats' | 'users' | 'timelines' | 'drafts' | 'outbox' | 'uploads' | 'leases';

const prefix = 'parley-';
const version = 2;

const keys: Readonly<Record<StoreName, IDBObjectStoreParameters>> = {
  meta: {},
  chats: { keyPath: 'chat_id' },
  users: { keyPath: 'user_id' },
  timelines: {},
  drafts: {},
  outbox: { keyPath: 'seq', autoIncrement: true },
  uploads: { keyPath: 'file_id' },
  leases: {},
};

export function openDatabase(userId: number): Promise<IDBDatabase> {
  const request = indexedDB.open(`${prefix}${userId}`, version);
  request.onupgradeneeded = () => {
    for (const [name, options] of Object.entries(keys)) {
      if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name, options);
    }
  };
  return result(request).then((db) => {
    // Another tab deletes it at sign-out.
    db.onversionchange = () => db.close();
    return db;
  });
}

/** Deletes the databases of all users, or of all others. */
export async function deleteDatabases(except?: { readonly userId: number }): Promise<void> {
  const all = await indexedDB.databases();
  const kept = except && `${prefix}${except.userId}`;
  const ours = all.flatMap(({ name }) => (name?.startsWith(prefix) && name !== kept ? [name] : []));
  await Promise.all(ours.map((name) => result(indexedDB.deleteDatabase(name))));
}

/**
 * Runs work in one transaction. Resolves once it is stored. The work must await nothing but requests of the transaction. Work
 * that awaits nothing is stored even if the page goes at once.
 */
export async function transact<T>(
  db: IDBDatabase,
  names: readonly StoreName[],
  mode: IDBTransactionMode,
  work: (store: (name: StoreName) => IDBObjectStore) => Promise<T> | T,
): Promise<T> {
  const tx = db.transaction(names, mode);
  const done = new Promise<void>((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new DOMException('The transaction was aborted.', 'AbortError'));
  });
  // A failure of the work is the error that is thrown.
  done.catch(() => {});
  const working = work((name) => tx.objectStore(name));
  // Otherwise the browser waits for this page to have nothing more to write.
  if (!(working instanceof Promise)) tx.commit();
  const value = await working;
  await done;
  return value;
}

export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
