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
import { text } from './text/text.ts';
import { Time } from './time.tsx';

const words = text.adminUser;

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
  const { facts: about } = words;
  const facts = {
    [about.displayName]: <bdi>{user.display_name}</bdi>,
    [about.userId]: user.user_id,
    [about.kind]: isPerson ? about.person : about.bot,
    [about.owner]: owner && <UserLink user={owner} />,
    [about.bots]:
      bots.length === 0 ? undefined : bots.map((bot, i) => [i > 0 && text.common.comma, <UserLink user={bot} />]),
    [about.administrator]: isPerson ? (user.is_admin ? about.yes : about.no) : undefined,
    [about.password]: isPerson ? (hasPassword ? about.hasPassword : about.noPassword) : undefined,
    [about.created]: <Time at={user.created_at} />,
    [about.disabled]: isActive ? undefined : <Time at={user.disabled_at} />,
  };
  return show(
    c,
    { ...named(user.name), section: '/admin/users', back: words.back },
    <>
      {passwordLink !== undefined && (
        <Card title={words.link.title} isFresh>
          <Secret label={words.link.sendTo(user.name)} value={passwordLink} />
          <p>{words.link.about(passwordLinkMs / 3_600_000)}</p>
        </Card>
      )}
      <Card title={about.title}>
        <Facts facts={facts} />
        <p>
          <a href={`/console/audit?user=${encodeURIComponent(user.name)}`}>{about.inAuditLog}</a>
        </p>
      </Card>
      {isPerson && (
        <Card title={words.use.title}>
          <p>{words.use.about}</p>
          <Facts facts={await useOf(services, user, bots.length)} />
          <p>
            <a href="/console/storage">{words.use.ofAll}</a>
          </p>
        </Card>
      )}
      {isPerson && isActive && (
        <Card title={words.password.title}>
          <p>{hasPassword ? words.password.forgotten : words.password.none}</p>
          <form method="post" action={`${path}/password-link`}>
            <Once by={services} />
            <button type="submit" class={hasPassword ? 'quiet' : undefined}>
              {words.password.create}
            </button>
          </form>
        </Card>
      )}
      {isPerson && isActive && (
        <Card title={words.role.title}>
          {isOnlyAdministrator ? <p>{words.role.only}</p> : <ChangeRole user={user} isSelf={isSelf} />}
        </Card>
      )}
      {isActive && (
        <Card title={words.disable.title}>
          {isSelf ? <p>{words.disable.own}</p> : <Disable user={user} bots={bots} />}
        </Card>
      )}
      {!isActive && (
        <Card title={words.enable.title}>
          {owner && owner.disabled_at !== null ? (
            <p>{words.enable.ownerDisabled}</p>
          ) : (
            <form method="post" action={`${path}/enable`}>
              <p>{owner ? words.enable.aboutBot : words.enable.about}</p>
              <button type="submit">{words.enable.label}</button>
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
  const { outOf, ...labels } = words.use;
  return {
    [labels.messages]: outOf({ used: isToday ? use.messages : 0, limit: quotas.dailyMessages }),
    [labels.fileBytes]: outOf({ used: use?.file_bytes ?? 0, limit: quotas.fileBytes }),
    [labels.chats]: outOf({ used: use?.chats ?? 0, limit: quotas.chats }),
    [labels.webhooks]: outOf({ used: await countWebhooks(engine, user_id), limit: webhooks.maxPerOwner }),
    [labels.bots]: outOf({ used: bots, limit: quotas.bots }),
  };
}

const UserLink = ({ user }: { user: UserRow }) => <NameLink href={`/admin/users/${user.user_id}`} name={user.name} />;

function ChangeRole({ user, isSelf }: { user: UserRow; isSelf: boolean }) {
  const { about, make, stepDown, remove } = words.role;
  const { label, consequence } = !user.is_admin ? make : isSelf ? stepDown : remove;
  return (
    <>
      <p>{about}</p>
      <Confirm label={label} action={`/admin/users/${user.user_id}/administrator`}>
        <input type="hidden" name="administrator" value={user.is_admin ? 'no' : 'yes'} />
        <p>{consequence}</p>
      </Confirm>
    </>
  );
}

const Disable = ({ user, bots }: { user: UserRow; bots: readonly UserRow[] }) => (
  <>
    <p>{words.disable.about}</p>
    <Confirm label={words.disable.label} action={`/admin/users/${user.user_id}/disable`}>
      <p>{words.disable.consequence(bots.map(({ name }) => name))}</p>
    </Confirm>
  </>
);
