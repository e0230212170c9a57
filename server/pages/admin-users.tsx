/** @jsxImportSource hono/jsx */
import { ParleyError, type UserId } from '@parley/contract';
import { createPasswordLink } from '../auth/links.ts';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { changeAdministrator } from '../operations/users.ts';
import { findUser, listUsers, namesOf, type UserRow } from '../store/access/users.ts';
import { NameFields } from './account-fields.tsx';
import { userPage } from './admin-user.tsx';
import { callOperation } from './call.ts';
import { Boxes, Field, Filter, PostForm } from './fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { idIn, readId } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { once } from './once.tsx';
import { NameLink } from './parts.tsx';
import { type PageContext, requireAdministrator, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { Pages, pathWith, Table } from './table.tsx';
import { text } from './text/text.ts';
import { Time } from './time.tsx';

const words = text.adminUsers;

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
    return newUserPage(c);
  });

  site.post('/admin/users/new', async (c) => {
    const who = requireAdministrator(c);
    const { form } = c.var;
    const created = await attempt(c, () =>
      callOperation(deps, c, who, 'users.create', {
        name: form.get('name'),
        display_name: form.get('display_name') || undefined,
        is_admin: form.get('is_admin') === 'yes',
        password: form.get('password') || undefined,
      }),
    );
    if (created instanceof RejectedForm) return newUserPage(c, created);
    return goTo(c, `/admin/users/${created.user.user_id}`, 'user-created');
  });

  const userIn = async (c: PageContext): Promise<UserRow> => {
    const user = await findUser(services.engine, idIn<UserId>(c, 'id'));
    if (!user) throw new ParleyError('not_found', text.errors.noUser);
    return user;
  };

  site.get('/admin/users/:id', async (c) => {
    const who = requireAdministrator(c);
    return userPage(c, deps, who, await userIn(c));
  });

  site.post('/admin/users/:id/disable', async (c) => {
    const who = requireAdministrator(c);
    const { user_id } = await userIn(c);
    if (user_id === who.user.user_id) throw new ParleyError('conflict', text.adminUser.disable.ownRefused);
    await callOperation(deps, c, who, 'users.disable', { user_id });
    return goTo(c, `/admin/users/${user_id}`, 'user-disabled');
  });

  /** Asks for the password again before somebody becomes an administrator, or gets access to the account of one. */
  const requirePassword = ({ caller }: SignedIn, { user_id }: UserRow) =>
    requireRecentPassword(caller, services.now(), `/admin/users/${user_id}`);

  site.post('/admin/users/:id/enable', async (c) => {
    const who = requireAdministrator(c);
    const { user_id } = await userIn(c);
    await callOperation(deps, c, who, 'users.enable', { user_id });
    return goTo(c, `/admin/users/${user_id}`, 'user-enabled');
  });

  site.post('/admin/users/:id/administrator', async (c) => {
    const who = requireAdministrator(c);
    const { user, actor } = who;
    const changed = await userIn(c);
    const { user_id } = changed;
    const isAdmin = c.var.form.get('administrator') === 'yes';
    if (isAdmin) requirePassword(who, changed);
    await changeAdministrator(services, actor, user_id, isAdmin);
    // The user can no longer see the pages of administrators.
    if (!isAdmin && user_id === user.user_id) return goTo(c, '/settings', 'stepped-down');
    return goTo(c, `/admin/users/${user_id}`, isAdmin ? 'administrator-made' : 'administrator-unmade');
  });

  site.post('/admin/users/:id/password-link', async (c) => {
    const who = requireAdministrator(c);
    const owner = await userIn(c);
    const { user_id } = owner;
    if (owner.is_admin) requirePassword(who, owner);
    const { secret, user } = await once(services, c.var.form, () => createPasswordLink(services, who.actor, user_id));
    return userPage(c, deps, who, user, `${c.var.origin}/password-link/${secret}`);
  });
  // For a browser that opens the URL of that response again.
  site.get('/admin/users/:id/password-link', (c) => c.redirect(`/admin/users/${idIn(c, 'id')}`, 303));
}

function newUserPage(c: PageContext, rejected?: RejectedForm): Promise<Response> {
  const { title, create, nameHint, passwordHint, role, administrator } = text.newUser;
  const form = (
    <PostForm action="/admin/users/new" button={create} rejected={rejected} class="card room">
      <NameFields hint={nameHint} rejected={rejected} autofocus />
      <Field
        name="password"
        label={text.common.password}
        type="password"
        hint={passwordHint}
        autocomplete="new-password"
        rejected={rejected}
        optional
      />
      <Boxes name="is_admin" label={role} choices={{ yes: administrator }} rejected={rejected} />
    </PostForm>
  );
  return show(c, { title, section: '/admin/users' }, form, rejected?.status);
}

async function usersPage(c: PageContext, { services: { engine } }: SiteDeps): Promise<Response> {
  const query = (c.req.query('query') ?? '').trim();
  const after = readId(c.req.query('after') ?? '') ?? 0;
  // No name contains NUL, and PostgreSQL rejects it.
  const found = query.includes('\0') ? [] : await listUsers(engine, after, perPage + 1, query);
  const users = found.slice(0, perPage);
  const ownerIds = users.flatMap(({ owner_id }) => owner_id ?? []);
  const links = {
    [words.firstPage]: after > 0 ? pathWith('/admin/users', { query }) : undefined,
    [words.nextPage]:
      found.length > perPage ? pathWith('/admin/users', { query, after: String(users.at(-1)?.user_id) }) : undefined,
  };
  return show(
    c,
    { title: words.title, section: '/admin/users' },
    <>
      <p class="buttons">
        <a class="button" href="/admin/users/new">
          {words.create}
        </a>
        <a class="button quiet" href="/console/storage">
          {words.use}
        </a>
      </p>
      <form method="get" action="/admin/users" class="filter">
        <Filter name="query" label={words.query} value={query} />
        <button type="submit" class="quiet">
          {words.search}
        </button>
      </form>
      <section class="card">
        {users.length === 0 && <p class="muted">{after > 0 ? words.noMore : words.none}</p>}
        {users.length > 0 && <UserTable users={users} owners={await namesOf(engine, ownerIds)} />}
        <Pages label={words.pages} links={links} />
      </section>
    </>,
  );
}

function UserTable({ users, owners }: { users: readonly UserRow[]; owners: ReadonlyMap<number, string> }) {
  const { columns } = words;
  const botOf = (owner: number) => words.botOf(<bdi>{owners.get(owner) ?? owner}</bdi>);
  return (
    <Table<UserRow>
      caption={words.list}
      rows={users}
      columns={{
        [columns.name]: ({ user_id, name }) => <NameLink href={`/admin/users/${user_id}`} name={name} />,
        [columns.displayName]: ({ display_name }) => <bdi>{display_name}</bdi>,
        [columns.kind]: ({ owner_id }) => (owner_id === null ? words.person : botOf(owner_id)),
        [columns.administrator]: ({ is_admin }) =>
          is_admin ? <strong>{words.yes}</strong> : <span class="muted">{words.no}</span>,
        [columns.state]: ({ disabled_at }) =>
          disabled_at === null ? words.active : <span class="fault">{words.disabled}</span>,
        [columns.created]: ({ created_at }) => <Time at={created_at} />,
      }}
    />
  );
}
