/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { UserRow } from '../store/access/users.ts';
import { appearanceOf } from './appearance.ts';
import { stylePath } from './assets.ts';
import { DoneNotice } from './notices.tsx';
import type { PageContext } from './site.ts';
import { text } from './text/text.ts';
import { TimeZone } from './time.tsx';

/** An entry of the navigation. */
export interface Entry {
  readonly href: string;
  readonly label: string;
  readonly about: string;
}

const { entries, layout: words } = text;

const ways: readonly Pick<Entry, 'href' | 'label'>[] = [
  { href: '/', label: words.ways.chats },
  { href: '/settings', label: words.ways.settings },
];

/** Views of the web client. */
const views: readonly Entry[] = [
  { href: '/settings/profile', ...entries.profile },
  { href: '/settings/appearance', ...entries.appearance },
  { href: '/settings/notifications', ...entries.notifications },
];

const serviceView: Entry = { href: '/settings/service', ...entries.service };

const own: readonly Entry[] = [
  { href: '/console/webhooks', ...entries.console },
  { href: '/sessions', ...entries.sessions },
  { href: '/password', ...entries.password },
];

const administration: readonly Entry[] = [
  { href: '/console/overview', ...entries.overview },
  { href: '/admin/users', ...entries.users },
  { href: '/console/people', ...entries.people },
  { href: '/console/audit', ...entries.audit },
];

const administrationEntry = { href: '/admin/users', label: words.ways.administration };

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
    <html lang={text.language} {...appearanceOf(c)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{words.title({ page: head.title, service })}</title>
        <link rel="stylesheet" href={stylePath} />
        {head.script && <script type="module" src={head.script} />}
        <link rel="icon" href="/assets/parley.svg" type="image/svg+xml" />
      </head>
      <body class={user ? undefined : 'plain'}>
        <a class="skip" href="#main">
          {words.skip}
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
      <nav aria-label={words.navigation}>
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
          <span class="unseen">{words.signedInAs}</span>
          <bdi class="name">{user.name}</bdi>
        </span>
        <button type="submit" class="quiet">
          {text.common.signOut}
        </button>
      </form>
    </>
  );
}
