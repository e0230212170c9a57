/** @jsxImportSource hono/jsx */
import { passwordLinkMs } from '../auth/links.ts';
import { dayMs } from '../operations/daily-messages.ts';
import { findUse } from '../store/access/owner-use.ts';
import { countAdmins, findSignIn, findUser, listBots, type UserRow } from '../store/access/users.ts';
import { countWebhooks } from '../store/webhooks/webhooks.ts';
import { show } from './layout.tsx';
import { Once } from './once.tsx';
import { Card, Confirm, Facts, NameLink, named, Secret } from './parts.tsx';
import type { PageContext, SignedIn, SiteDeps } from './site.ts';
import { Time } from './time.tsx';

/** The page of one user, for administrators. Shows `passwordLink` if it was just created. */
export async function userPage(
  c: PageContext,
  { services }: SiteDeps,
  who: SignedIn,
  user: UserRow,
  passwordLink?: string,
): Promise<Response> {
  const { engine } = services;
  const path = `/admin/users/${user.user_id}`;
  const isSelf = user.user_id === who.user.user_id;
  const hasPassword = ((await findSignIn(engine, user.name))?.password_hash ?? null) !== null;
  const owner = user.owner_id === null ? undefined : await findUser(engine, user.owner_id);
  const bots = await listBots(engine, user.user_id);
  const isActive = user.disabled_at === null;
  const isOnlyAdministrator = user.is_admin && isActive && (await countAdmins(engine)) === 1;
  const isPerson = user.kind === 'person';
  const facts = {
    'Display name': <bdi>{user.display_name}</bdi>,
    'User ID': user.user_id,
    Kind: isPerson ? 'Person' : 'Bot',
    Owner: owner && <UserLink user={owner} />,
    Bots: bots.length === 0 ? undefined : bots.map((bot, i) => [i > 0 && ', ', <UserLink user={bot} />]),
    Administrator: isPerson ? (user.is_admin ? 'Yes' : 'No') : undefined,
    Password: isPerson ? (hasPassword ? 'Set' : 'None. The user cannot sign in yet.') : undefined,
    Created: <Time at={user.created_at} />,
    Disabled: isActive ? undefined : <Time at={user.disabled_at} />,
  };
  return show(
    c,
    { ...named(user.name), section: '/admin/users', back: 'All users' },
    <>
      {passwordLink !== undefined && (
        <Card title="Link for a new password" isFresh>
          <Secret label={`Send this only to ${user.name}`} value={passwordLink} />
          <p>
            Anyone who opens it can choose the password. It works once, within {passwordLinkMs / 3_600_000} hours.
            Earlier links no longer work. The new password ends all sessions, access tokens and app authorizations of
            the user.
          </p>
        </Card>
      )}
      <Card title="About">
        <Facts facts={facts} />
        <p>
          <a href={`/console/audit?user=${encodeURIComponent(user.name)}`}>This user in the audit log</a>
        </p>
      </Card>
      {isPerson && (
        <Card title="Use">
          <p>By the person and their bots together. The limits are settings of the server.</p>
          <Facts facts={await useOf(services, user, bots.length)} />
          <p>
            <a href="/console/storage">The use of all people</a>
          </p>
        </Card>
      )}
      {isPerson && isActive && (
        <Card title="Password">
          <p>
            {hasPassword
              ? 'If the user forgot the password, create a link to choose another.'
              : 'Create a link with which the user can choose a password and sign in.'}
          </p>
          <form method="post" action={`${path}/password-link`}>
            <Once by={services} />
            <button type="submit" class={hasPassword ? 'quiet' : undefined}>
              Create a password link
            </button>
          </form>
        </Card>
      )}
      {isPerson && isActive && (
        <Card title="Administrator">
          {isOnlyAdministrator ? (
            <p>This is the only administrator. To step down, make another user an administrator first.</p>
          ) : (
            <ChangeRole user={user} isSelf={isSelf} />
          )}
        </Card>
      )}
      {isActive && (
        <Card title="Disable">
          {isSelf ? (
            <p>This is your own account. Only another administrator can disable it.</p>
          ) : (
            <Disable user={user} bots={bots} />
          )}
        </Card>
      )}
      {!isActive && (
        <Card title="Enable">
          {owner && owner.disabled_at !== null ? (
            <p>Its owner is disabled. Enable the owner first.</p>
          ) : (
            <form method="post" action={`${path}/enable`}>
              <p>
                {owner
                  ? 'The owner can use it again, with new access tokens.'
                  : 'The user can sign in again. Access tokens, app authorizations and bots are not restored.'}
              </p>
              <button type="submit">Enable the user</button>
            </form>
          )}
        </Card>
      )}
    </>,
  );
}

/** Shows the use of a person and their bots beside each quota. The messages of the last seconds may be missing. */
async function useOf({ engine, quotas, now, webhooks }: SiteDeps['services'], { user_id }: UserRow, bots: number) {
  const use = await findUse(engine, user_id);
  const isToday = use?.message_day === Math.floor(now() / dayMs);
  return {
    'Messages today (UTC)': outOf(isToday ? use.messages : 0, quotas.dailyMessages),
    'Bytes of files': outOf(use?.file_bytes ?? 0, quotas.fileBytes),
    'Chats created': outOf(use?.chats ?? 0, quotas.chats),
    Webhooks: outOf(await countWebhooks(engine, user_id), webhooks.maxPerOwner),
    Bots: outOf(bots, quotas.bots),
  };
}

const number = new Intl.NumberFormat('en');

const outOf = (used: number, limit: number | undefined): string =>
  limit === undefined ? number.format(used) : `${number.format(used)} of ${number.format(limit)}`;

const UserLink = ({ user }: { user: UserRow }) => <NameLink href={`/admin/users/${user.user_id}`} name={user.name} />;

function ChangeRole({ user, isSelf }: { user: UserRow; isSelf: boolean }) {
  const [label, consequence] = !user.is_admin
    ? ['Make an administrator', 'This user will see and change everything that you can, your own account included.']
    : isSelf
      ? ['Step down', 'You will no longer see these pages. Another administrator can make you one again.']
      : [
          'Remove as administrator',
          'This user will no longer see these pages, and their tokens can no longer administer the service.',
        ];
  return (
    <>
      <p>Administrators manage users and invitations, and read the audit log.</p>
      <Confirm label={label} action={`/admin/users/${user.user_id}/administrator`}>
        <input type="hidden" name="administrator" value={user.is_admin ? 'no' : 'yes'} />
        <p>{consequence}</p>
      </Confirm>
    </>
  );
}

const Disable = ({ user, bots }: { user: UserRow; bots: readonly UserRow[] }) => (
  <>
    <p>A disabled user cannot sign in or use the API. Their messages stay.</p>
    <Confirm label="Disable the user" action={`/admin/users/${user.user_id}/disable`}>
      <p>
        All sessions, access tokens, app authorizations and webhooks of the user end at once.
        {bots.length > 0 && ` So do these bots: ${bots.map(({ name }) => name).join(', ')}.`} Chats without another
        owner pass to another participant.
      </p>
    </Confirm>
  </>
);
