/** @jsxImportSource hono/jsx */
import { userName } from '@parley/contract';
import { acts } from '../auth/acts.ts';
import { namesOfApps } from '../store/access/apps.ts';
import { type AuditFilter, type AuditRow, listAudit } from '../store/access/audit.ts';
import { findUserByName, namesOf } from '../store/access/users.ts';
import type { Db } from '../store/engine/engine.ts';
import { appsIn, Details, type Names, usersIn, Who } from './audit-details.tsx';
import { Filter, Select } from './fields.tsx';
import { readId } from './ids.ts';
import { show } from './layout.tsx';
import { type PageContext, requireAdministrator, type Site, type SiteDeps } from './site.ts';
import { Pages, pathWith, Table } from './table.tsx';
import { Time } from './time.tsx';

const perPage = 50;

/** The audit log, for administrators. */
export function auditPages(site: Site, deps: SiteDeps): void {
  site.get('/admin/audit', async (c) => {
    requireAdministrator(c);
    return auditPage(c, deps);
  });
}

type Query = Readonly<Record<'act' | 'user' | 'before', string>>;

async function auditPage(c: PageContext, { services: { engine } }: SiteDeps): Promise<Response> {
  const query: Query = {
    act: c.req.query('act') ?? '',
    user: (c.req.query('user') ?? '').trim(),
    before: c.req.query('before') ?? '',
  };
  const filter = await filterOf(engine, query);
  const found = typeof filter === 'string' ? [] : await listAudit(engine, filter, perPage + 1);
  const entries = found.slice(0, perPage);
  const names: Names = {
    users: await namesOf(engine, entries.flatMap(usersIn)),
    apps: await namesOfApps(engine, entries.flatMap(appsIn)),
  };
  const links = {
    Latest: query.before === '' ? undefined : pathWith('/admin/audit', { ...query, before: '' }),
    Older:
      found.length > perPage
        ? pathWith('/admin/audit', { ...query, before: String(entries.at(-1)?.audit_id) })
        : undefined,
  };
  return show(
    c,
    { title: 'Audit log', section: '/admin/audit' },
    <>
      <p>Security events, the latest first.</p>
      <form method="get" action="/admin/audit" class="filter">
        <Select name="act" label="Event" value={query.act} choices={{ '': 'Anything', ...acts }} />
        <Filter name="user" label="User" value={query.user} />
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
      <section class="card">
        {entries.length > 0 && <AuditTable entries={entries} names={names} />}
        {entries.length === 0 && <p class="muted">{typeof filter === 'string' ? filter : 'No entries match.'}</p>}
        <Pages label="Pages of the log" links={links} />
      </section>
    </>,
  );
}

/** Returns the filter, or a message if nothing can match. */
async function filterOf(db: Db, { act, user, before }: Query): Promise<AuditFilter | string> {
  if (act !== '' && !Object.hasOwn(acts, act)) return 'There is no such event.';
  const beforeId = readId(before);
  if (before !== '' && beforeId === undefined) return 'There is no such page of the log.';
  const found = userName.safeParse(user).success ? await findUserByName(db, user) : undefined;
  if (user !== '' && !found) return 'There is no user with this name.';
  return { act: act || undefined, userId: found?.user_id, beforeId };
}

function AuditTable({ entries, names }: { entries: readonly AuditRow[]; names: Names }) {
  return (
    <Table<AuditRow>
      caption="Audit log"
      rows={entries}
      columns={{
        Time: ({ at }) => <Time at={at} />,
        Who: (entry) => <Who entry={entry} names={names} />,
        From: ({ address }) =>
          address === null ? <span class="muted">the command line</span> : <bdi class="address">{address}</bdi>,
        What: ({ act }) => (Object.hasOwn(acts, act) ? acts[act as keyof typeof acts] : act),
        Details: (entry) => <Details entry={entry} names={names} />,
      }}
    />
  );
}
