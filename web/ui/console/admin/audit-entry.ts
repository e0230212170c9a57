import type { AuditEntry } from '@parley-chat/sdk/operations.ts';
import { fileSize } from '../../../lib/file-size.ts';
import type { Facts, Named, Piece } from '../../../text/console/admin/acts.ts';
import { adminText } from '../../../text/console/admin/text.ts';

const words = adminText.audit;

/** Names by id, as the server sends them with entries. */
export interface Names {
  readonly users: ReadonlyMap<number, string>;
  readonly apps: ReadonlyMap<number, string>;
}

/** A part of the log. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly users: readonly { readonly user_id: number; readonly name: string }[];
  readonly apps: readonly { readonly app_id: number; readonly name: string }[];
}

export const namesOf = ({ users, apps }: Pick<AuditPage, 'users' | 'apps'>): Names => ({
  users: new Map(users.map(({ user_id, name }) => [user_id, name])),
  apps: new Map(apps.map(({ app_id, name }) => [app_id, name])),
});

const user = (id: number, { users }: Names): Named => ({ of: 'user', id, name: users.get(id) ?? words.userNumber(id) });
const app = (id: number, { apps }: Names): Named => ({ of: 'app', name: apps.get(id) ?? words.appNumber(id) });

/** Returns what an entry says, as a sentence in pieces. */
export function sentenceOf(entry: AuditEntry, names: Names): readonly Piece[] {
  const sentence = words.say(entry.act, factsOf(entry, names));
  return entry.app_id === null ? sentence : [...sentence, ...words.withApp(app(entry.app_id, names))];
}

export const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.name)).join('');

function factsOf({ user_id, address, details }: AuditEntry, names: Names): Facts {
  const detail = (key: string) => details[key];
  const numberOf = (key: string) => Number(detail(key) ?? 0);
  return {
    who: user_id === null ? (address === null ? words.operator : words.somebody) : user(user_id, names),
    isKnown: user_id !== null,
    isSelf: (key) => user_id !== null && detail(key) === user_id,
    named: (key) => (key === 'app_id' ? app : user)(numberOf(key), names),
    has: (key) => {
      const value = detail(key);
      return Array.isArray(value) ? value.length > 0 : Boolean(value);
    },
    text: (key) => ({ of: 'text', name: String(detail(key) ?? '') }),
    number: numberOf,
    size: (key) => fileSize(numberOf(key)),
    list: (key) => [detail(key) ?? []].flat().join(', '),
  };
}

/** What the URL of the page says. */
export interface AuditFilters {
  readonly act: string;
  /** The name of a user. */
  readonly user: string;
  readonly since: string;
  readonly until: string;
}

/** Returns the filters as the API takes them. */
export const inputOf = ({ act, user, since, until }: AuditFilters) => ({
  ...(act !== '' && { act }),
  ...(user !== '' && { user_name: user }),
  ...(since !== '' && { since }),
  ...(until !== '' && { until }),
});

export function readFilters(query: string): AuditFilters {
  const values = new URLSearchParams(query);
  const time = (name: string) => {
    const at = new Date(values.get(name) ?? '');
    return Number.isNaN(at.getTime()) ? '' : at.toISOString();
  };
  return {
    act: /^[a-z_]{1,40}$/.exec(values.get('act') ?? '')?.[0] ?? '',
    user: (values.get('user') ?? '').trim().slice(0, 40),
    since: time('since'),
    until: time('until'),
  };
}
