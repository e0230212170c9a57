/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { UserRow } from '../store/access/users.ts';
import { appearanceOf } from './appearance.ts';
import { stylePath } from './assets.ts';
import { DoneNotice } from './notices.tsx';
import type { PageContext } from './site.ts';
import { TimeZone } from './time.tsx';

/** An entry of the navigation. */
export interface Entry {
  readonly href: string;
  readonly label: string;
  readonly about: string;
}

const ways: readonly Pick<Entry, 'href' | 'label'>[] = [
  { href: '/', label: 'Chats' },
  { href: '/settings', label: 'Settings' },
];

/** Views of the web client. */
const views: readonly Entry[] = [
  { href: '/settings/profile', label: 'Profile', about: 'Your name, your picture and your status.' },
  { href: '/settings/appearance', label: 'Appearance', about: 'Light or dark, and how much fits on the screen.' },
  { href: '/settings/notifications', label: 'Notifications', about: 'What notifies you, where, and when not.' },
];

const serviceView: Entry = {
  href: '/settings/service',
  label: 'Service',
  about: 'What it is called, and the chat that new people join.',
};

const own: readonly Entry[] = [
  { href: '/console/webhooks', label: 'Console', about: 'Webhooks, events, access tokens, bots and apps.' },
  { href: '/sessions', label: 'Sessions', about: 'The browsers in which you are signed in. Sign out any of them.' },
  { href: '/password', label: 'Password', about: 'Change it and sign out all other browsers.' },
];

const administration: readonly Entry[] = [
  { href: '/console/overview', label: 'Overview', about: 'How the service does, its storage and its settings.' },
  { href: '/admin/users', label: 'Users', about: 'Who has an account, and who is an administrator.' },
  { href: '/console/people', label: 'People', about: 'Links to create an account.' },
  { href: '/console/audit', label: 'Audit log', about: 'Who did what to accounts and access, and when.' },
];

const administrationEntry = { href: '/admin/users', label: 'Admin' };

/** Returns the sections that the user can see. */
export const entriesFor = (user: UserRow | undefined) => ({
  views: user?.is_admin ? [...views, serviceView] : views,
  own: user ? own : [],
  administration: user?.is_admin ? administration : [],
});

export interface PageHead {
  readonly title: string;
  /** The heading, if it has markup. The title by default. */
  readonly heading?: Child;
  /** The path of its entry in the navigation. Such a page shows the notice of a redirect. */
  readonly section?: string;
  /** The label of a link to the page of the section. */
  readonly back?: string;
  /** Without navigation, for a page with one task. */
  readonly plain?: boolean;
  /** The path of a script. */
  readonly script?: string | undefined;
}

/** Responds with a page. */
export async function show(c: PageContext, head: PageHead, body: Child, status = 200): Promise<Response> {
  const user = head.plain ? undefined : c.var.who?.user;
  c.set('hasScript', head.script !== undefined);
  const { serviceName: service } = c.var;
  const page = (
    <html lang="en" {...appearanceOf(c)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${head.title} · ${service}`}</title>
        <link rel="stylesheet" href={stylePath} />
        {head.script && <script type="module" src={head.script} />}
        <link rel="icon" href="/assets/parley.svg" type="image/svg+xml" />
      </head>
      <body class={user ? undefined : 'plain'}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href="/">
            <img src="/assets/parley.svg" alt="" width="28" height="28" />
            <bdi>{service}</bdi>
          </a>
          {user && <Navigation user={user} section={head.section} />}
        </header>
        <main id="main">
          <h1>{head.heading ?? head.title}</h1>
          {head.back && (
            <p class="back">
              <a href={head.section}>{head.back}</a>
            </p>
          )}
          {head.section && <DoneNotice c={c} />}
          <TimeZone.Provider value={c.var.who?.user.time_zone}>{body}</TimeZone.Provider>
        </main>
      </body>
    </html>
  );
  return c.html(`<!doctype html>${await page}`, status as 200);
}

function Navigation({ user, section }: { user: UserRow; section: string | undefined }) {
  const { own, administration } = entriesFor(user);
  // All of them at once would take several lines.
  const isAdministration = administration.some(({ href }) => href === section);
  const entries = isAdministration ? administration : user.is_admin ? [...own, administrationEntry] : own;
  return (
    <>
      <nav aria-label="Main">
        <ul>
          {[...ways, ...entries].map(({ href, label }) => (
            <li>
              <a href={href} aria-current={href === section ? 'page' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action="/sign-out" class="who">
        <span>
          <span class="unseen">Signed in as </span>
          <bdi class="name">{user.name}</bdi>
        </span>
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </>
  );
}
