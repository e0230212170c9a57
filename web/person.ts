import { databaseUsers, openDatabase, result, transact } from './store/database.ts';
import type { Me } from './store/records.ts';

/** The person who uses the client. The page of the server names them, and the page without a server reads what was stored. */
export interface Person {
  readonly me: Me;
  /** Changes with every sign-in. */
  readonly session: string;
  /** The name of this service. */
  readonly service: string;
}

/** Returns the person whom a page is for, or undefined for the page that the service worker keeps. */
export function personOf({ dataset }: HTMLElement): Person | undefined {
  const { userId, name = '', displayName = '', isAdmin, session = '', service = '' } = dataset;
  if (userId === undefined) return undefined;
  const me = { user_id: Number(userId), name, display_name: displayName, is_admin: isAdmin === 'true' };
  return { me, session, service };
}

/** Stores the person beside their records, so that both are deleted together. */
export const storePerson = (db: IDBDatabase, person: Person): Promise<void> =>
  transact(db, ['meta'], 'readwrite', (store) => void store('meta').put(person, 'person'));

/** Returns the person whose records are stored here, or undefined if nobody is signed in. */
export async function storedPerson(): Promise<Person | undefined> {
  for (const userId of await databaseUsers()) {
    const db = await openDatabase(userId);
    try {
      const person = await transact(db, ['meta'], 'readonly', (store) =>
        result<Person | undefined>(store('meta').get('person')),
      );
      if (person) return person;
    } finally {
      db.close();
    }
  }
  return undefined;
}
