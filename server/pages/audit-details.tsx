/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { AuditDetails } from '../auth/audit.ts';
import { idDetails, idsIn } from '../auth/audit-ids.ts';
import type { AuditRow } from '../store/access/audit.ts';
import { NameLink } from './parts.tsx';

/** Names by id. */
export interface Names {
  readonly users: ReadonlyMap<number, string>;
  readonly apps: ReadonlyMap<number, string>;
}

const words: Readonly<Record<string, string>> = { is_admin: 'administrator', actor_id: 'by' };

const wordFor = (key: string): string => words[key] ?? key.replace(/_id$/, '').replaceAll('_', ' ');

const parsed = ({ details }: AuditRow): AuditDetails => JSON.parse(details) as AuditDetails;

const detailsOf = (entry: AuditRow): [string, NonNullable<AuditDetails[string]>][] =>
  Object.entries(parsed(entry)).flatMap(([key, value]) =>
    value === null || value === undefined || value === '' ? [] : [[key, value]],
  );

/** Returns the users in the details of an entry. */
export const usersIn = (entry: AuditRow): number[] => idsIn(parsed(entry), 'users');

/** Returns the apps in the details of an entry, and the one that acted. */
export const appsIn = (entry: AuditRow): number[] => [
  ...idsIn(parsed(entry), 'apps'),
  ...(entry.app_id > 0 ? [entry.app_id] : []),
];

export function Who({ entry, names }: { entry: AuditRow; names: Names }) {
  const { user_id, user_name, app_id, address } = entry;
  const somebody = address === null ? 'The operator' : 'Unknown';
  return (
    <>
      {user_id === null ? (
        <span class="muted">{somebody}</span>
      ) : (
        <NameLink href={`/admin/users/${user_id}`} name={user_name ?? String(user_id)} />
      )}
      {app_id > 0 && (
        <>
          , with the app <bdi>{names.apps.get(app_id) ?? app_id}</bdi>
        </>
      )}
    </>
  );
}

export function Details({ entry, names }: { entry: AuditRow; names: Names }) {
  const named = new Set<unknown>([
    ...usersIn(entry).map((id) => names.users.get(id)),
    ...appsIn(entry).map((id) => names.apps.get(id)),
  ]);
  // A name is shown only if it differs from the current name of its id.
  const details = detailsOf(entry).filter(([key, value]) => !(key === 'name' || key === 'app') || !named.has(value));
  if (details.length === 0) return <span class="muted">–</span>;
  return (
    <ul class="details">
      {details.map(([key, value]) => (
        <li>
          {wordFor(key)}: <bdi>{inWords(key, value, names)}</bdi>
        </li>
      ))}
    </ul>
  );
}

function inWords(key: string, value: NonNullable<AuditDetails[string]>, names: Names): Child {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return value.join(', ');
  const of = idDetails[key];
  const name = String((of && names[of].get(value)) ?? value);
  return of === 'users' ? <NameLink href={`/admin/users/${value}`} name={name} /> : name;
}
