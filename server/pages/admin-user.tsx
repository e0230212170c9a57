/** @jsxImportSource hono/jsx */
import { passwordLinkMs } from '../auth/links.ts';
import { countAdmins, findSignIn, findUser, listBots, type UserRow } from '../store/access/users.ts';
import { Facts } from './facts.tsx';
import { named } from './names.tsx';
import { DoneNotice } from './notices.tsx';
import { Once } from './once.tsx';
import { Confirm, Secret, Time } from './parts.tsx';
import { type PageContext, type SignedIn, type SiteDeps, show } from './site.tsx';

interface Known {
  readonly user: UserRow;
  readonly isSelf: boolean;
  readonly hasPassword: boolean;
  /** Set for a bot. */
  readonly owner: UserRow | undefined;
  /** Active bots only. */
  readonly bots: readonly UserRow[];
  readonly isOnlyAdministrator: boolean;
}

/** The page of one user, for administrators. Shows `passwordLink` if it was just created. */
export async function userPage(
  c: PageContext,
  { services }: SiteDeps,
  who: SignedIn,
  user: UserRow,
  passwordLink?: string,
): Promise<Response> {
  const { engine } = services;
  const known: Known = {
    user,
    isSelf: user.user_id === who.user.user_id,
    hasPassword: ((await findSignIn(engine, user.name))?.password_hash ?? null) !== null,
    owner: user.owner_id === null ? undefined : await findUser(engine, user.owner_id),
    bots: await listBots(engine, user.user_id),
    isOnlyAdministrator: user.is_admin && user.disabled_at === null && (await countAdmins(engine)) === 1,
  };
  const isPerson = user.kind === 'person';
  const isActive = user.disabled_at === null;
  return show(
    c,
    { ...named(user.name), section: '/admin/users' },
    <>
      <p>
        <a href="/admin/users">All users</a>
      </p>
      <DoneNotice c={c} />
      {passwordLink !== undefined && <NewPasswordLink link={passwordLink} name={user.name} />}
      <About known={known} />
      {isPerson && isActive && <Password known={known} by={services} />}
      {isPerson && isActive && <Administrator known={known} />}
      {isActive ? <Disable known={known} /> : <Enable known={known} />}
    </>,
  );
}

function NewPasswordLink({ link, name }: { link: string; name: string }) {
  return (
    <section class="card fresh">
      <h2>Link for a new password</h2>
      <Secret label={`Send this only to ${name}`} value={link} />
      <p>
        Anyone who opens it can choose the password. It works once, within {passwordLinkMs / 3_600_000} hours. Earlier
        links no longer work.
      </p>
    </section>
  );
}

const UserLink = ({ user }: { user: UserRow }) => (
  <a href={`/admin/users/${user.user_id}`}>
    <bdi>{user.name}</bdi>
  </a>
);

function About({ known: { user, hasPassword, owner, bots } }: { known: Known }) {
  const isPerson = user.kind === 'person';
  return (
    <section class="card">
      <h2>About</h2>
      <Facts
        facts={{
          'Display name': <bdi>{user.display_name}</bdi>,
          'User ID': user.user_id,
          Kind: isPerson ? 'Person' : 'Bot',
          Owner: owner && <UserLink user={owner} />,
          Bots:
            bots.length === 0
              ? undefined
              : bots.map((bot, i) => (
                  <>
                    {i > 0 && ', '}
                    <UserLink user={bot} />
                  </>
                )),
          Administrator: isPerson ? (user.is_admin ? 'Yes' : 'No') : undefined,
          Password: isPerson ? (hasPassword ? 'Set' : 'None. The user cannot sign in yet.') : undefined,
          Created: <Time at={user.created_at} />,
          Disabled: user.disabled_at === null ? undefined : <Time at={user.disabled_at} />,
        }}
      />
      <p>
        <a href={`/admin/audit?user=${encodeURIComponent(user.name)}`}>This user in the audit log</a>
      </p>
    </section>
  );
}

function Password({ known: { user, hasPassword }, by }: { known: Known; by: SiteDeps['services'] }) {
  return (
    <section class="card">
      <h2>Password</h2>
      <p>
        {hasPassword
          ? 'If the user forgot the password, create a link to choose another.'
          : 'Create a link with which the user can choose a password and sign in.'}
      </p>
      <form method="post" action={`/admin/users/${user.user_id}/password-link`}>
        <Once by={by} />
        <button type="submit" class={hasPassword ? 'quiet' : undefined}>
          Create a password link
        </button>
      </form>
    </section>
  );
}

function Administrator({ known: { user, isSelf, isOnlyAdministrator } }: { known: Known }) {
  if (isOnlyAdministrator) {
    return (
      <section class="card">
        <h2>Administrator</h2>
        <p>This is the only administrator. To step down, make another user an administrator first.</p>
      </section>
    );
  }
  const isAdmin = user.is_admin;
  const [what, consequence] = isAdmin
    ? isSelf
      ? ['Step down', 'You will no longer see these pages. Another administrator can make you one again.']
      : [
          'Remove as administrator',
          'This user will no longer see these pages, and their tokens can no longer administer the service.',
        ]
    : ['Make an administrator', 'This user will see and change everything that you can, your own account included.'];
  return (
    <section class="card">
      <h2>Administrator</h2>
      <p>Administrators manage users and invitations, and read the audit log.</p>
      <Confirm what={what} action={`/admin/users/${user.user_id}/administrator`}>
        <input type="hidden" name="administrator" value={isAdmin ? 'no' : 'yes'} />
        <p>{consequence}</p>
      </Confirm>
    </section>
  );
}

function Disable({ known: { user, isSelf, bots } }: { known: Known }) {
  if (isSelf) {
    return (
      <section class="card">
        <h2>Disable</h2>
        <p>This is your own account. Only another administrator can disable it.</p>
      </section>
    );
  }
  return (
    <section class="card">
      <h2>Disable</h2>
      <p>A disabled user cannot sign in or use the API. Their messages stay.</p>
      <Confirm what="Disable the user" action={`/admin/users/${user.user_id}/disable`}>
        <p>
          All sessions, access tokens, app authorizations and webhooks of the user end at once.
          {bots.length > 0 && ` So do these bots: ${bots.map(({ name }) => name).join(', ')}.`} Chats without another
          owner pass to another participant.
        </p>
      </Confirm>
    </section>
  );
}

function Enable({ known: { user, owner } }: { known: Known }) {
  const waits = owner !== undefined && owner.disabled_at !== null;
  return (
    <section class="card">
      <h2>Enable</h2>
      {waits && <p>Its owner is disabled. Enable the owner first.</p>}
      {!waits && (
        <>
          <p>
            {owner
              ? 'The owner can use it again, with new access tokens.'
              : 'The user can sign in again. Access tokens, app authorizations and bots are not restored.'}
          </p>
          <form method="post" action={`/admin/users/${user.user_id}/enable`}>
            <button type="submit">Enable the user</button>
          </form>
        </>
      )}
    </section>
  );
}
