/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { UserRow } from '../store/access/users.ts';
import { stylePath } from './assets.ts';
import { DoneNotice } from './notices.tsx';
import type { PageContext } from './site.ts';

/** An entry of the navigation. */
export interface Entry {
  readonly href: string;
  readonly label: string;
  readonly about: string;
}

const chats: Pick<Entry, 'href' | 'label'> = { href: '/', label: 'Chats' };

const own: readonly Entry[] = [
  { href: '/access', label: 'Access', about: 'The apps that act for you, and your access tokens.' },
  { href: '/apps', label: 'Apps', about: 'Register apps that ask people for access.' },
  { href: '/bots', label: 'Bots', about: 'Automated accounts.' },
  { href: '/password', label: 'Password', about: 'Change it and sign out all other browsers.' },
];

const administration: readonly Entry[] = [
  { href: '/admin/users', label: 'Users', about: 'Who has an account, and who is an administrator.' },
  { href: '/admin/invitations', label: 'Invitations', about: 'Links to create an account.' },
  { href: '/admin/webhooks', label: 'Webhooks', about: 'Endpoints that receive the events of the whole service.' },
  { href: '/admin/audit', label: 'Audit log', about: 'Who did what to accounts and access, and when.' },
];

/** Returns the sections that the user can see. */
export const entriesFor = (user: UserRow | undefined) => ({
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
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${head.title} · Parley`}</title>
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
            Parley
          </a>
          {user && <Navigation user={user} section={head.section} />}
        </header>
        <main id="main">
          <h1>{head.heading ?? head.title}</h1>
          {head.back && (
            <p>
              <a href={head.section}>{head.back}</a>
            </p>
          )}
          {head.section && <DoneNotice c={c} />}
          {body}
        </main>
      </body>
    </html>
  );
  return c.html(`<!doctype html>${await page}`, status as 200);
}

function Navigation({ user, section }: { user: UserRow; section: string | undefined }) {
  const { own, administration } = entriesFor(user);
  return (
    <>
      <nav aria-label="Main">
        <ul>
          {[chats, ...own, ...administration].map(({ href, label }) => (
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
