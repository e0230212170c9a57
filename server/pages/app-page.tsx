/** @jsxImportSource hono/jsx */
import { oauthPaths } from '../auth/oauth/metadata.ts';
import type { AppRow } from '../store/apps.ts';
import { countPeopleOf } from '../store/grants.ts';
import { findUser, type UserRow } from '../store/users.ts';
import { Facts } from './facts.tsx';
import { Lines } from './fields.tsx';
import type { Form } from './form.ts';
import { named } from './names.tsx';
import { DoneNotice } from './notices.tsx';
import { Once } from './once.tsx';
import { Confirm, Field, Notice, Secret, Time } from './parts.tsx';
import { type Refusal, RefusalNotice } from './refusal.tsx';
import { type PageContext, type SiteParts, show } from './site.tsx';

/** What was typed about an app. */
export interface AppTyped {
  readonly name: string;
  /** One address a line. */
  readonly redirects: string;
}

export const readAppForm = (form: Form): AppTyped => ({ name: form.get('name'), redirects: form.get('redirects') });

interface AppState {
  readonly typed?: AppTyped;
  readonly refusal?: Refusal;
  /** A secret that was just made, for a new app or in place of another. */
  readonly secret?: { readonly value: string; readonly isNew: boolean };
}

/** The page of one app, for its owner. */
export async function appPage(c: PageContext, { services }: SiteParts, app: AppRow, state: AppState) {
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
          <p>The app proves with it who it is. If others may know it, replace it.</p>
          <Confirm what="Replace the secret" action={`/apps/${app.app_id}/secret`}>
            <Once by={services} />
            <p>
              The present secret ends at once, and with it all that the app was given as its bot, webhooks included.
              Until the app has the new one, it can get no access tokens.
            </p>
          </Confirm>
        </section>
      )}
      <section class="card">
        <h2>Delete</h2>
        <p>{peopleWith(people)}</p>
        <Confirm what="Delete the app" action={`/apps/${app.app_id}/delete`}>
          <p>
            Everything that the app was allowed ends at once, for everybody. This cannot be undone.
            {bot && ' Its bot stays, with what it wrote.'}
          </p>
        </Confirm>
      </section>
    </>,
    state.refusal?.status,
  );
}

const peopleWith = (count: number): string =>
  count === 0 ? 'Nobody has authorized it.' : `${count} ${count === 1 ? 'person has' : 'people have'} authorized it.`;

function NewSecret({ value, isNew, bot }: { value: string; isNew: boolean; bot: UserRow | undefined }) {
  return (
    <>
      <Notice kind="good">
        <p>{isNew ? 'The app is registered.' : 'The app has a new secret. The one before has ended.'}</p>
      </Notice>
      <section class="card fresh">
        <h2>Its secret</h2>
        <Secret label="Client secret" value={value} />
        {isNew && bot && (
          <p>
            Where the app acts for nobody else, it acts as its bot <bdi class="name">{bot.name}</bdi>.
          </p>
        )}
      </section>
    </>
  );
}

function Connection({ app, bot, origin }: { app: AppRow; bot: UserRow | undefined; origin: string }) {
  return (
    <section class="card">
      <h2>To connect it</h2>
      <Facts
        facts={{
          'Client ID': <code>{app.client_id}</code>,
          'Authorization address': <code>{origin + oauthPaths.authorize}</code>,
          'Token address': <code>{origin + oauthPaths.token}</code>,
          'Revocation address': <code>{origin + oauthPaths.revoke}</code>,
          'Metadata address': <code>{origin + oauthPaths.metadata}</code>,
          'Can keep a secret': app.secret_hash === null ? 'no' : 'yes',
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
      <h2>Name and redirect addresses</h2>
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
          label="Redirect addresses"
          hint="One on each line, to the letter."
          value={typed?.redirects ?? redirects}
          faults={faults}
        />
        <button type="submit">Save</button>
      </form>
    </section>
  );
}
