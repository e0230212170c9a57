/** @jsxImportSource hono/jsx */
import { oauthPaths } from '../auth/oauth/metadata.ts';
import type { AppRow } from '../store/access/apps.ts';
import { countPeopleOf } from '../store/access/grants.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { Facts } from './facts.tsx';
import { Lines } from './fields.tsx';
import type { Form } from './form.ts';
import { named } from './names.tsx';
import { DoneNotice } from './notices.tsx';
import { Once } from './once.tsx';
import { Confirm, Field, Notice, Secret, Time } from './parts.tsx';
import { type Refusal, RefusalNotice } from './refusal.tsx';
import { type PageContext, type SiteDeps, show } from './site.tsx';

/** The values of the form for an app. */
export interface AppTyped {
  readonly name: string;
  /** One URL per line. */
  readonly redirects: string;
}

export const readAppForm = (form: Form): AppTyped => ({ name: form.get('name'), redirects: form.get('redirects') });

interface AppState {
  readonly typed?: AppTyped;
  readonly refusal?: Refusal;
  /** A secret that was just created. */
  readonly secret?: { readonly value: string; readonly isNew: boolean };
}

/** The page of one app, for its owner. */
export async function appPage(c: PageContext, { services }: SiteDeps, app: AppRow, state: AppState) {
  const bot = app.bot_id === null ? undefined : await findUser(services.engine, app.bot_id);
  const people = await countPeopleOf(services.engine, app, services.now());
  return show(
    c,
    { ...named(app.name), section: '/apps' },
    <>
      <p>
        <a href="/apps">All your apps</a>
      </p>
      <DoneNotice c={c} />
      {state.secret && <NewSecret {...state.secret} bot={bot} />}
      <Connection app={app} bot={bot} origin={c.var.origin} />
      <Change app={app} typed={state.typed} refusal={state.refusal} />
      {app.secret_hash !== null && (
        <section class="card">
          <h2>Secret</h2>
          <p>The app authenticates with it. Replace it if it may have leaked.</p>
          <Confirm what="Replace the secret" action={`/apps/${app.app_id}/secret`}>
            <Once by={services} />
            <p>
              The current secret stops working at once. The access tokens and webhooks of the app's bot end too. The app
              needs the new secret to get access tokens.
            </p>
          </Confirm>
        </section>
      )}
      <section class="card">
        <h2>Delete</h2>
        <p>{peopleWith(people)}</p>
        <Confirm what="Delete the app" action={`/apps/${app.app_id}/delete`}>
          <p>
            The app loses all access at once, for everyone. This cannot be undone.
            {bot && ' Its bot and the messages of the bot stay.'}
          </p>
        </Confirm>
      </section>
    </>,
    state.refusal?.status,
  );
}

const peopleWith = (count: number): string =>
  count === 0 ? 'No one has authorized it.' : `${count} ${count === 1 ? 'person has' : 'people have'} authorized it.`;

function NewSecret({ value, isNew, bot }: { value: string; isNew: boolean; bot: UserRow | undefined }) {
  return (
    <>
      <Notice kind="good">
        <p>{isNew ? 'The app is registered.' : 'The app has a new secret. The old one no longer works.'}</p>
      </Notice>
      <section class="card fresh">
        <h2>New secret</h2>
        <Secret label="Client secret" value={value} />
        {isNew && bot && (
          <p>
            With its own credentials the app acts as its bot <bdi class="name">{bot.name}</bdi>.
          </p>
        )}
      </section>
    </>
  );
}

function Connection({ app, bot, origin }: { app: AppRow; bot: UserRow | undefined; origin: string }) {
  return (
    <section class="card">
      <h2>Connection</h2>
      <Facts
        facts={{
          'Client ID': <code>{app.client_id}</code>,
          'Authorization URL': <code>{origin + oauthPaths.authorize}</code>,
          'Token URL': <code>{origin + oauthPaths.token}</code>,
          'Revocation URL': <code>{origin + oauthPaths.revoke}</code>,
          'Metadata URL': <code>{origin + oauthPaths.metadata}</code>,
          'Keeps a secret': app.secret_hash === null ? 'no' : 'yes',
          Bot: bot && <BotName bot={bot} />,
          Registered: <Time at={app.created_at} />,
        }}
      />
    </section>
  );
}

const BotName = ({ bot }: { bot: UserRow }) =>
  bot.disabled_at === null ? (
    <a href={`/bots/${bot.user_id}`}>
      <bdi>{bot.name}</bdi>
    </a>
  ) : (
    <>
      <bdi>{bot.name}</bdi> (disabled)
    </>
  );

interface ChangeProps {
  readonly app: AppRow;
  readonly typed: AppTyped | undefined;
  readonly refusal: Refusal | undefined;
}

function Change({ app, typed, refusal }: ChangeProps) {
  const faults = refusal?.faults;
  const redirects = (JSON.parse(app.redirects) as string[]).join('\n');
  return (
    <section class="card">
      <h2>Name and redirect URLs</h2>
      <form method="post" action={`/apps/${app.app_id}`} class="room">
        <RefusalNotice refusal={refusal} />
        <Field
          name="name"
          label="Name"
          value={typed?.name ?? app.name}
          faults={faults}
          autofocus={refusal !== undefined}
          words
        />
        <Lines
          name="redirects"
          label="Redirect URLs"
          hint="One per line. They must match exactly."
          value={typed?.redirects ?? redirects}
          faults={faults}
        />
        <button type="submit">Save</button>
      </form>
    </section>
  );
}
