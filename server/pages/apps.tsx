/** @jsxImportSource hono/jsx */
import { invalidField, title as titleRule } from '@parley/contract';
import { z } from 'zod';
import { accessApp, deleteApp, registerApp, replaceSecret, updateApp } from '../auth/apps.ts';
import { validate } from '../http/validate.ts';
import { type AppRow, listApps } from '../store/access/apps.ts';
import { type AppTyped, appPage, readAppForm } from './app-page.tsx';
import { Facts } from './facts.tsx';
import { Lines, Radios } from './fields.tsx';
import { idIn } from './ids.ts';
import { DoneNotice, goTo } from './notices.tsx';
import { Once, once } from './once.tsx';
import { Field, Time } from './parts.tsx';
import { type Refusal, RefusalNotice, tried } from './refusal.tsx';
import { formOf, type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps, show } from './site.tsx';

const kinds = {
  server: 'On a server, where it can keep a secret',
  open: 'In a browser or on the device of its user',
} as const;

const nameRule = z.object({ name: titleRule });

/** The apps of the signed-in user. */
export function appPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/apps', async (c) => {
    const { user } = requireSignedIn(c);
    const apps = await listApps(services.engine, user.user_id);
    return show(c, { title: 'Apps', section: '/apps' }, <AppList c={c} apps={apps} />);
  });

  site.get('/apps/new', (c) => {
    requireSignedIn(c);
    return newAppPage(c, deps, { name: '', redirects: '', kind: '' });
  });

  site.post('/apps/new', async (c) => {
    const who = requireSignedIn(c);
    const form = formOf(c);
    const typed = { ...readAppForm(form), kind: form.get('kind') };
    const made = await tried(() => once(services, form, async () => register(deps, who, typed)));
    if (!made.ok) return newAppPage(c, deps, typed, made.refusal);
    const { app, clientSecret } = made.value;
    if (clientSecret === undefined) return goTo(c, `/apps/${app.app_id}`, 'app-registered');
    return appPage(c, deps, app, { secret: { value: clientSecret, isNew: true } });
  });

  site.get('/apps/:id', async (c) => {
    const { actor } = requireSignedIn(c);
    return appPage(c, deps, await accessApp(services, actor, idIn(c, 'id')), {});
  });

  site.post('/apps/:id', async (c) => {
    const { actor } = requireSignedIn(c);
    const app = await accessApp(services, actor, idIn(c, 'id'));
    const typed = readAppForm(formOf(c));
    const changed = await tried(async () => {
      const { name } = validate(nameRule, { name: typed.name });
      await updateApp(services, actor, app.app_id, { name, redirects: linesOf(typed.redirects) });
    });
    if (!changed.ok) return appPage(c, deps, app, { typed, refusal: changed.refusal });
    return goTo(c, `/apps/${app.app_id}`, 'app-changed');
  });

  site.post('/apps/:id/secret', async (c) => {
    const { actor } = requireSignedIn(c);
    const app = await accessApp(services, actor, idIn(c, 'id'));
    const value = await once(services, formOf(c), () => replaceSecret(services, actor, app.app_id));
    return appPage(c, deps, app, { secret: { value, isNew: false } });
  });
  // For a browser that opens the URL of that response again.
  site.get('/apps/:id/secret', (c) => c.redirect(`/apps/${idIn(c, 'id')}`, 303));

  site.post('/apps/:id/delete', async (c) => {
    const { actor } = requireSignedIn(c);
    await deleteApp(services, actor, idIn(c, 'id'));
    return goTo(c, '/apps', 'app-deleted');
  });
}

/** One URL per line. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function register({ services }: SiteDeps, { actor }: SignedIn, typed: AppTyped & { kind: string }) {
  const { name } = validate(nameRule, { name: typed.name });
  if (!Object.hasOwn(kinds, typed.kind)) throw invalidField('kind', 'needs a choice');
  const redirects = linesOf(typed.redirects);
  return registerApp(services, actor, { name, redirects, confidential: typed.kind === 'server' });
}

function AppList({ c, apps }: { c: PageContext; apps: readonly AppRow[] }) {
  return (
    <>
      <DoneNotice c={c} />
      <p>An app acts for the people who authorize it, within the access that they grant.</p>
      <p>
        <a class="button" href="/apps/new">
          Register an app
        </a>
      </p>
      <section class="card">
        <h2>Your apps</h2>
        {apps.length === 0 && <p class="muted">You have no apps.</p>}
        {apps.length > 0 && (
          <ul class="items">
            {apps.map((app) => (
              <li>
                <div>
                  <h3>
                    <a href={`/apps/${app.app_id}`}>
                      <bdi>{app.name}</bdi>
                    </a>
                  </h3>
                  <Facts
                    small
                    facts={{ 'Client ID': <code>{app.client_id}</code>, Registered: <Time at={app.created_at} /> }}
                  />
                </div>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function newAppPage(
  c: PageContext,
  { services }: SiteDeps,
  typed: AppTyped & { kind: string },
  refusal?: Refusal,
): Promise<Response> {
  const faults = refusal?.faults;
  const form = (
    <form method="post" action="/apps/new" class="card room">
      <RefusalNotice refusal={refusal} />
      <Once by={services} />
      <Field name="name" label="Name" hint={hints.name} value={typed.name} faults={faults} autofocus words />
      <Lines name="redirects" label="Redirect URLs" hint={hints.redirects} value={typed.redirects} faults={faults} />
      <Radios name="kind" label="Where it runs" hint={hints.kind} value={typed.kind} faults={faults} choices={kinds} />
      <button type="submit">Register the app</button>
    </form>
  );
  return show(c, { title: 'Register an app', section: '/apps' }, form, refusal?.status);
}

const hints = {
  name: 'People see it when they are asked to authorize the app.',
  redirects:
    'Where people return after they decide. One per line, exactly as the app sends it, such as https://example.com/callback.',
  kind: 'An app that can keep a secret gets one, and a bot that it can act as.',
};
