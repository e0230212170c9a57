/** @jsxImportSource hono/jsx */
import { dayMs } from '../operations/daily-messages.ts';
import { listUse, type PersonUse, type UseColumn } from '../store/access/owner-use.ts';
import { Select } from './fields.tsx';
import { readId } from './ids.ts';
import { show } from './layout.tsx';
import { Facts, NameLink } from './parts.tsx';
import { type PageContext, requireAdministrator, type Site, type SiteDeps } from './site.ts';
import { Pages, pathWith, Table } from './table.tsx';

const perPage = 50;
const path = '/admin/use';

const number = new Intl.NumberFormat('en');

/** The columns of the table, in their order. */
const columns: Readonly<Record<UseColumn, { readonly label: string; readonly format: (use: number) => string }>> = {
  file_bytes: { label: 'Files', format: bytesText },
  messages: { label: 'Messages today', format: number.format },
  chats: { label: 'Chats created', format: number.format },
  webhooks: { label: 'Webhooks', format: number.format },
  bots: { label: 'Bots', format: number.format },
};

const isColumn = (text: string): text is UseColumn => Object.hasOwn(columns, text);

/** Shows administrators how much each person uses. */
export function adminUsePages(site: Site, deps: SiteDeps): void {
  site.get(path, async (c) => {
    requireAdministrator(c);
    return usePage(c, deps);
  });
}

async function usePage(c: PageContext, { services }: SiteDeps): Promise<Response> {
  const { engine, now, quotas, webhooks } = services;
  const asked = c.req.query('by') ?? '';
  const by = isColumn(asked) ? asked : 'file_bytes';
  const page = Math.min(readId(c.req.query('page') ?? '') ?? 1, 1_000_000);
  const today = Math.floor(now() / dayMs);
  const found = await listUse(engine, { today, by, limit: perPage + 1, offset: (page - 1) * perPage });
  const limits: Record<UseColumn, number | undefined> = {
    file_bytes: quotas.fileBytes,
    messages: quotas.dailyMessages,
    chats: quotas.chats,
    webhooks: webhooks.maxPerOwner,
    bots: quotas.bots,
  };
  const limitFacts = cells((column) => {
    const limit = limits[column];
    return limit === undefined ? 'no limit' : columns[column].format(limit);
  });
  const links = {
    'First page': page > 1 ? pathWith(path, { by }) : undefined,
    'Next page': found.length > perPage ? pathWith(path, { by, page: String(page + 1) }) : undefined,
  };
  return show(
    c,
    { title: 'Use by person', section: '/admin/users', back: 'All users' },
    <>
      <p>Each person with their bots, the largest use first. A day begins at 00:00 UTC.</p>
      <section class="card">
        <p>The limits of a person are settings of the server:</p>
        <Facts facts={limitFacts} isSmall />
      </section>
      <form method="get" action={path} class="filter">
        <Select
          name="by"
          label="Sort by"
          value={by}
          choices={Object.fromEntries(Object.entries(columns).map(([column, { label }]) => [column, label]))}
        />
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
      <section class="card">
        {found.length === 0 && <p class="muted">There are no more people.</p>}
        {found.length > 0 && <UseTable rows={found.slice(0, perPage)} />}
        <Pages label="Pages of the list" links={links} />
      </section>
    </>,
  );
}

/** Returns one value for each column, by its label. */
const cells = <T,>(of: (column: UseColumn) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(columns).map(([column, { label }]) => [label, of(column as UseColumn)]));

const UseTable = ({ rows }: { rows: readonly PersonUse[] }) => (
  <Table<PersonUse>
    caption="Use by person"
    rows={rows}
    columns={{
      Name: ({ user_id, name, disabled_at }) => (
        <>
          <NameLink href={`/admin/users/${user_id}`} name={name} />
          {disabled_at !== null && <span class="fault"> Disabled</span>}
        </>
      ),
      ...cells((column) => (use: PersonUse) => columns[column].format(use[column])),
    }}
  />
);

/** Returns `0 bytes`, `1.5 MiB`. */
function bytesText(bytes: number): string {
  const exponent = Math.min(4, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const unit = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'][exponent];
  return `${exponent === 0 ? bytes : (bytes / 1_024 ** exponent).toFixed(1)} ${unit}`;
}
