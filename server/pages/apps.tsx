/** @jsxImportSource hono/jsx */
import { displayName, invalidField } from '@parley/contract';
import { z } from 'zod';
import { accessApp, deleteApp, registerApp, replaceSecret, updateApp } from '../auth/apps.ts';
import { oauthPaths } from '../auth/oauth/metadata.ts';
import { validate } from '../http/validate.ts';
import { type AppRow, listApps } from '../store/access/apps.ts';
import { countPeopleOf } from '../store/access/grants.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { Boxes, Field, Lines, PostForm } from './fields.tsx';
import { attempt, type Form, RejectedForm } from './form.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { Once, once } from './once.tsx';
import { Card, Confirm, Facts, Item, Items, NameLink, Notice, named, Secret } from './parts.tsx';
import { type PageContext, requireSignedIn, type Site, type SiteDeps } from './site.ts';
import { Time } from './time.tsx';

const kinds = {
  server: 'On a server, where it can keep a secret',
  open: 'In a browser or on the device of its user',
} as const;

const nameRule = z.object({ name: displayName });

/** The apps of the signed-in user. */
export function appPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/apps', async (c) => {
    const { user } = requireSignedIn(c);
    return appsPage(c, await listApps(services.engine, user.user_id));
  });

  site.get('/apps/new', (c) => {
    requireSignedIn(c);
    return newAppPage(c, deps);
  });

  site.post('/apps/new', async (c) => {
    const { actor } = requireSignedIn(c);
    const { form } = c.var;
    const registered = await attempt(c, () =>
      once(services, form, async () => {
        services.requireRoom();
        const kind = form.get('kind');
        const values = readApp(form);
        if (!Object.hasOwn(kinds, kind)) throw invalidField('kind', 'needs a choice');
        return registerApp(services, actor, { ...values, confidential: kind === 'server' });
      }),
    );
    if (registered instanceof RejectedForm) return newAppPage(c, deps, registered);
    const { app, clientSecret } = registered;
    if (clientSecret === undefined) return goTo(c, `/apps/${app.app_id}`, 'app-registered');
    return appPage(c, deps, app, { secret: clientSecret, isNew: true });
  });

  const appIn = (c: PageContext) => accessApp(services, requireSignedIn(c).actor, idIn(c, 'id'));

  site.get('/apps/:id', async (c) => appPage(c, deps, await appIn(c)));

  site.post('/apps/:id', async (c) => {
    const { actor } = requireSignedIn(c);
    const app = await appIn(c);
    const rejected = await attempt(c, async () => {
      await updateApp(services, actor, app.app_id, readApp(c.var.form));
    });
    return rejected ? appPage(c, deps, app, { rejected }) : goTo(c, `/apps/${app.app_id}`, 'app-changed');
  });

  site.post('/apps/:id/secret', async (c) => {
    const { actor } = requireSignedIn(c);
    const app = await appIn(c);
    const secret = await once(services, c.var.form, () => replaceSecret(services, actor, app.app_id));
    return appPage(c, deps, app, { secret });
  });
  // For a browser that opens the URL of that response again.
  site.get('/apps/:id/secret', (c) => c.redirect(`/apps/${idIn(c, 'id')}`, 303));

  site.post('/apps/:id/delete', async (c) => {
    const { actor } = requireSignedIn(c);
    await deleteApp(services, actor, idIn(c, 'id'));
    return goTo(c, '/apps', 'app-deleted');
  });
}

/** Reads the name and the redirect URLs, one per line. Throws `validation_failed`. */
function readApp(form: Form) {
  const lines = form.get('redirects').split('\n');
  return {
    name: validate(nameRule, { name: form.get('name') }).name,
    redirects: lines.map((line) => line.trim()).filter((line) => line !== ''),
  };
}

function appsPage(c: PageContext, apps: readonly AppRow[]): Promise<Response> {
  const items = apps.map((app) => (
    <Item
      heading={<NameLink href={`/apps/${app.app_id}`} name={app.name} />}
      facts={{ 'Client ID': <code>{app.client_id}</code>, Registered: <Registered app={app} /> }}
    />
  ));
  return show(
    c,
    { title: 'Apps', section: '/apps' },
    <>
      <p>An app acts for the people who authorize it, within the access that they grant.</p>
      <p>
        <a class="button" href="/apps/new">
          Register an app
        </a>
      </p>
      <Card title="Your apps">
        <Items none="You have no apps." items={items} />
      </Card>
    </>,
  );
}

function newAppPage(c: PageContext, { services }: SiteDeps, rejected?: RejectedForm): Promise<Response> {
  const form = (
    <PostForm action="/apps/new" button="Register the app" rejected={rejected} class="card room">
      <Once by={services} />
      <Field name="name" label="Name" hint={hints.name} rejected={rejected} autofocus words />
      <Lines name="redirects" label="Redirect URLs" hint={hints.redirects} rejected={rejected} />
      <Boxes type="radio" name="kind" label="Where it runs" hint={hints.kind} choices={kinds} rejected={rejected} />
    </PostForm>
  );
  return show(c, { title: 'Register an app', section: '/apps' }, form, rejected?.status);
}

const hints = {
  name: 'People see it when they are asked to authorize the app.',
  redirects:
    'Where people return after they decide. One per line, exactly as the app sends it, such as https://example.com/callback.',
  kind: 'An app that can keep a secret gets one, and a bot that it can act as.',
};

interface AppState {
  readonly rejected?: RejectedForm;
  /** A secret that was just created. */
  readonly secret?: string;
  /** True if the app was just registered. */
  readonly isNew?: boolean;
}

/** The page of one app, for its owner. */
async function appPage(c: PageContext, { services }: SiteDeps, app: AppRow, state: AppState = {}) {
  const { rejected, secret, isNew } = state;
  const bot = app.bot_id === null ? undefined : await findUser(services.engine, app.bot_id);
  const people = await countPeopleOf(services.engine, app, services.now());
  const { origin } = c.var;
  const connection = {
    'Client ID': <code>{app.client_id}</code>,
    'Authorization URL': <code>{origin + oauthPaths.authorize}</code>,
    'Token URL': <code>{origin + oauthPaths.token}</code>,
    'Revocation URL': <code>{origin + oauthPaths.revoke}</code>,
    'Metadata URL': <code>{origin + oauthPaths.metadata}</code>,
    'Keeps a secret': app.secret_hash === null ? 'no' : 'yes',
    Bot: bot && <BotName bot={bot} />,
    Registered: <Registered app={app} />,
  };
  const redirects = (JSON.parse(app.redirects) as string[]).join('\n');
  const redirectsHint = 'One per line. They must match exactly.';
  return show(
    c,
    { ...named(app.name), section: '/apps', back: 'All your apps' },
    <>
      {secret !== undefined && <NewSecret secret={secret} isNew={isNew === true} bot={bot} />}
      {app.by_token && (
        <Notice kind="bad">
          This app was registered with an access token. If that was not you, delete the app, and revoke the token under
          Access. If it was you, check the redirect URLs and save them. Until then, the consent page warns of the app.
        </Notice>
      )}
      <Card title="Connection">
        <Facts facts={connection} />
      </Card>
      <Card title="Name and redirect URLs">
        <PostForm action={`/apps/${app.app_id}`} button="Save" rejected={rejected}>
          <Field name="name" label="Name" value={app.name} rejected={rejected} isFirst words />
          <Lines name="redirects" label="Redirect URLs" hint={redirectsHint} value={redirects} rejected={rejected} />
        </PostForm>
      </Card>
      {app.secret_hash !== null && (
        <Card title="Secret">
          <p>The app authenticates with it. Replace it if it may have leaked.</p>
          <Confirm label="Replace the secret" action={`/apps/${app.app_id}/secret`}>
            <Once by={services} />
            <p>
              The current secret stops working at once.{' '}
              {bot && "The access tokens and webhooks of the app's bot end too. "}
              The app needs the new secret to get access tokens.
            </p>
          </Confirm>
        </Card>
      )}
      <Card title="Delete">
        <p>{people === 0 ? 'No one has' : people === 1 ? '1 person has' : `${people} people have`} authorized it.</p>
        <Confirm label="Delete the app" action={`/apps/${app.app_id}/delete`}>
          <p>
            The app loses all access at once, for everyone. This cannot be undone.
            {bot && ' Its bot and the messages of the bot stay.'}
          </p>
        </Confirm>
      </Card>
    </>,
    rejected?.status,
  );
}

function NewSecret({ secret, isNew, bot }: { secret: string; isNew: boolean; bot: UserRow | undefined }) {
  return (
    <>
      <Notice kind="good">
        {isNew ? 'The app is registered.' : 'The app has a new secret. The old one no longer works.'}
      </Notice>
      <Card title="New secret" isFresh>
        <Secret label="Client secret" value={secret} />
        {isNew && bot && (
          <p>
            With its own credentials the app acts as its bot <bdi class="name">{bot.name}</bdi>.
          </p>
        )}
      </Card>
    </>
  );
}

function Registered({ app }: { app: AppRow }) {
  return (
    <>
      <Time at={app.created_at} />
      {app.by_token && ', with an access token'}
    </>
  );
}

function BotName({ bot }: { bot: UserRow }) {
  if (bot.disabled_at === null) return <NameLink href={`/bots/${bot.user_id}`} name={bot.name} />;
  return (
    <>
      <bdi>{bot.name}</bdi> (disabled)
    </>
  );
}
