/** @jsxImportSource hono/jsx */
import { ParleyError, type UserId } from '@parley/contract';
import { createPasswordLink } from '../auth/links.ts';
import { changeAdministrator, enableOneUser } from '../operations/users.ts';
import { findUser, listUsers, namesOf, type UserRow } from '../store/access/users.ts';
import { emptyUser, newUserPage, readUserForm } from './admin-new-user.tsx';
import { userPage } from './admin-user.tsx';
import { callOperation } from './call.ts';
import { Filter } from './fields.tsx';
import { idIn, readId } from './ids.ts';
import { DoneNotice, goTo } from './notices.tsx';
import { once } from './once.tsx';
import { Time } from './parts.tsx';
import { tried } from './refusal.tsx';
import { formOf, type PageContext, requireAdministrator, type Site, type SiteDeps, show } from './site.tsx';
import { Pages, Table } from './table.tsx';

const perPage = 50;

/** All users, for administrators. */
export function adminUserPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/admin/users', async (c) => {
    requireAdministrator(c);
    return usersPage(c, deps);
  });

  site.get('/admin/users/new', (c) => {
    requireAdministrator(c);
    return newUserPage(c, emptyUser);
  });

  site.post('/admin/users/new', async (c) => {
    const who = requireAdministrator(c);
    const form = formOf(c);
    const typed = readUserForm(form);
    const made = await tried(() =>
      callOperation(deps, c, who, 'users.create', {
        name: typed.name,
        display_name: typed.displayName || undefined,
        is_admin: typed.isAdmin,
        password: form.get('password') || undefined,
      }),
    );
    if (!made.ok) return newUserPage(c, typed, made.refusal);
    return goTo(c, `/admin/users/${made.value.user.user_id}`, 'user-created');
  });

  const userIn = async (c: PageContext): Promise<UserRow> => {
    const user = await findUser(services.engine, idIn<UserId>(c, 'id'));
    if (!user) throw new ParleyError('not_found', 'There is no such user.');
    return user;
  };

  site.get('/admin/users/:id', async (c) => {
    const who = requireAdministrator(c);
    return userPage(c, deps, who, await userIn(c));
  });

  site.post('/admin/users/:id/disable', async (c) => {
    const who = requireAdministrator(c);
    const { user_id } = await userIn(c);
    if (user_id === who.user.user_id) {
      throw new ParleyError('conflict', 'You cannot disable your own account. Another administrator can.');
    }
    await callOperation(deps, c, who, 'users.disable', { user_id });
    return goTo(c, `/admin/users/${user_id}`, 'user-disabled');
  });

  site.post('/admin/users/:id/enable', async (c) => {
    const { actor } = requireAdministrator(c);
    const { user_id } = await userIn(c);
    await enableOneUser(services, actor, user_id);
    return goTo(c, `/admin/users/${user_id}`, 'user-enabled');
  });

  site.post('/admin/users/:id/administrator', async (c) => {
    const { user, actor } = requireAdministrator(c);
    const { user_id } = await userIn(c);
    const isAdmin = formOf(c).get('administrator') === 'yes';
    await changeAdministrator(services, actor, user_id, isAdmin);
    // The user can no longer see the pages of administrators.
    if (!isAdmin && user_id === user.user_id) return goTo(c, '/access', 'stepped-down');
    return goTo(c, `/admin/users/${user_id}`, isAdmin ? 'administrator-made' : 'administrator-unmade');
  });

  site.post('/admin/users/:id/password-link', async (c) => {
    const who = requireAdministrator(c);
    const { user_id } = await userIn(c);
    const { secret, user } = await once(services, formOf(c), () => createPasswordLink(services, who.actor, user_id));
    return userPage(c, deps, who, user, `${c.var.origin}/password-link/${secret}`);
  });
  // For a browser that opens the URL of that response again.
  site.get('/admin/users/:id/password-link', (c) => c.redirect(`/admin/users/${idIn(c, 'id')}`, 303));
}

async function usersPage(c: PageContext, { services }: SiteDeps): Promise<Response> {
  const query = (c.req.query('query') ?? '').trim();
  const after = readId(c.req.query('after') ?? '') ?? 0;
  // No name contains NUL, and PostgreSQL rejects it.
  const found = query.includes('\0') ? [] : await listUsers(services.engine, after, perPage + 1, query);
  const users = found.slice(0, perPage);
  const owners = await namesOf(
    services.engine,
    users.flatMap(({ owner_id }) => owner_id ?? []),
  );
  return show(
    c,
    { title: 'Users', section: '/admin/users' },
    <>
      <DoneNotice c={c} />
      <p>
        <a class="button" href="/admin/users/new">
          Create a user
        </a>
      </p>
      <form method="get" action="/admin/users" class="filter">
        <Filter name="query" label="Name or display name contains" value={query} />
        <button type="submit" class="quiet">
          Search
        </button>
      </form>
      <section class="card">
        {users.length === 0 && <p class="muted">{after > 0 ? 'There are no more users.' : 'No user matches.'}</p>}
        {users.length > 0 && <UserTable users={users} owners={owners} />}
        <Pages
          label="Pages of the list"
          links={{
            'First page': after > 0 ? listPath(query, 0) : undefined,
            'Next page': found.length > perPage ? listPath(query, users.at(-1)?.user_id ?? 0) : undefined,
          }}
        />
      </section>
    </>,
  );
}

function listPath(query: string, after: number): string {
  const params = new URLSearchParams({ ...(query !== '' && { query }), ...(after > 0 && { after: String(after) }) });
  return params.size === 0 ? '/admin/users' : `/admin/users?${params}`;
}

function UserTable({ users, owners }: { users: readonly UserRow[]; owners: ReadonlyMap<number, string> }) {
  return (
    <Table<UserRow>
      caption="Users"
      rows={users}
      columns={[
        {
          label: 'Name',
          cell: ({ user_id, name }) => (
            <a href={`/admin/users/${user_id}`}>
              <bdi>{name}</bdi>
            </a>
          ),
        },
        { label: 'Display name', cell: ({ display_name }) => <bdi>{display_name}</bdi> },
        {
          label: 'Kind',
          cell: ({ owner_id }) =>
            owner_id === null ? (
              'Person'
            ) : (
              <>
                Bot of <bdi>{owners.get(owner_id) ?? owner_id}</bdi>
              </>
            ),
        },
        {
          label: 'Administrator',
          cell: ({ is_admin }) => (is_admin ? <strong>Yes</strong> : <span class="muted">No</span>),
        },
        {
          label: 'State',
          cell: ({ disabled_at }) => (disabled_at === null ? 'Active' : <span class="off">Disabled</span>),
        },
        { label: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}
