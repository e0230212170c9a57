/** @jsxImportSource hono/jsx */
import { userName } from '@parley/contract';
import { acts } from '../auth/acts.ts';
import { namesOfApps } from '../store/apps.ts';
import { type AuditFilter, type AuditRow, listAudit } from '../store/audit.ts';
import type { Db } from '../store/engine.ts';
import { findUserByName, namesOf } from '../store/users.ts';
import { appsIn, Details, type Names, usersIn, Who } from './audit-details.tsx';
import { Filter, Select } from './fields.tsx';
import { readId } from './ids.ts';
import { Time } from './parts.tsx';
import { type PageContext, requireAdministrator, type Site, type SiteParts, show } from './site.tsx';
import { Pages, Table } from './table.tsx';

const perPage = 50;

/** What was done that bears on security, for administrators. */
export function auditPages(site: Site, parts: SiteParts): void {
  site.get('/admin/audit', async (c) => {
    requireAdministrator(c);
    return auditPage(c, parts);
  });
}

interface Asked {
  readonly act: string;
  readonly user: string;
  readonly before: string;
}

async function auditPage(c: PageContext, { services: { engine } }: SiteParts): Promise<Response> {
  const asked: Asked = {
    act: c.req.query('act') ?? '',
    user: (c.req.query('user') ?? '').trim(),
    before: c.req.query('before') ?? '',
  };
  const filter = await filterOf(engine, asked);
  const found = typeof filter === 'string' ? [] : await listAudit(engine, filter, perPage + 1);
  const entries = found.slice(0, perPage);
  const names: Names = {
    users: await namesOf(engine, entries.flatMap(usersIn)),
    apps: await namesOfApps(engine, entries.flatMap(appsIn)),
  };
  return show(
    c,
    { title: 'Audit log', section: '/admin/audit' },
    <>
      <p>What was done here that bears on security, the latest first.</p>
      <FilterForm asked={asked} />
      <section class="card">
        {entries.length > 0 && <AuditTable entries={entries} names={names} />}
        {entries.length === 0 && (
          <p class="muted">{typeof filter === 'string' ? filter : 'Nothing in the log fits this.'}</p>
        )}
        <Pages
          label="Pages of the log"
          links={{
            Latest: asked.before === '' ? undefined : logPath({ ...asked, before: '' }),
            Older: found.length > perPage ? logPath({ ...asked, before: String(entries.at(-1)?.audit_id) }) : undefined,
          }}
        />
      </section>
    </>,
  );
}

/** What is looked for; in words, why there can be nothing of it. */
async function filterOf(db: Db, { act, user, before }: Asked): Promise<AuditFilter | string> {
  if (act !== '' && !Object.hasOwn(acts, act)) return 'There is no such act.';
  const beforeId = readId(before);
  if (before !== '' && beforeId === undefined) return 'There is no such place in the log.';
  const found = userName.safeParse(user).success ? await findUserByName(db, user) : undefined;
  if (user !== '' && !found) return 'Nobody has this name.';
  return { act: act || undefined, userId: found?.user_id, beforeId };
}

function logPath(asked: Asked): string {
  const params = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));
  return params.size === 0 ? '/admin/audit' : `/admin/audit?${params}`;
}

function FilterForm({ asked }: { asked: Asked }) {
  return (
    <form method="get" action="/admin/audit" class="filter">
      <Select name="act" label="What was done" value={asked.act} choices={{ '': 'Anything', ...acts }} />
      <Filter name="user" label="By whom" value={asked.user} />
      <button type="submit" class="quiet">
        Show
      </button>
    </form>
  );
}

function AuditTable({ entries, names }: { entries: readonly AuditRow[]; names: Names }) {
  return (
    <Table<AuditRow>
      caption="Audit log"
      rows={entries}
      columns={[
        { label: 'Time', cell: ({ at }) => <Time at={at} /> },
        { label: 'Who', cell: (entry) => <Who entry={entry} names={names} /> },
        {
          label: 'From',
          cell: ({ address }) =>
            address === null ? <span class="muted">the command line</span> : <bdi class="address">{address}</bdi>,
        },
        { label: 'What', cell: ({ act }) => (Object.hasOwn(acts, act) ? acts[act as keyof typeof acts] : act) },
        { label: 'Details', cell: (entry) => <Details entry={entry} names={names} /> },
      ]}
    />
  );
}
