/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import type { UserRow } from '../store/access/users.ts';
import { stylePath } from './assets.ts';
import type { PageHead } from './site.tsx';

/** An entry of the navigation. */
export interface Entry {
  readonly href: string;
  readonly label: string;
  readonly about: string;
}

const own: readonly Entry[] = [
  { href: '/access', label: 'Access', about: 'The apps that act for you, and your access tokens.' },
  { href: '/apps', label: 'Apps', about: 'Register apps that ask people for access.' },
  { href: '/bots', label: 'Bots', about: 'Automated accounts.' },
  { href: '/password', label: 'Password', about: 'Change it and sign out all other browsers.' },
];

const administration: readonly Entry[] = [
  { href: '/admin/users', label: 'Users', about: 'Who has an account, and who is an administrator.' },
  { href: '/admin/invitations', label: 'Invitations', about: 'Links to create an account.' },
  { href: '/admin/audit', label: 'Audit log', about: 'Who did what to accounts and access, and when.' },
];

export const entriesFor = (user: UserRow) => ({ own, administration: user.is_admin ? administration : [] });

/** The frame of every page. */
export function Layout({ head, user, children }: { head: PageHead; user: UserRow | undefined; children?: Child }) {
  const isPlain = !user || head.plain === true;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${head.title} · Parley`}</title>
        <link rel="stylesheet" href={stylePath} />
        <link rel="icon" href="/assets/parley.svg" type="image/svg+xml" />
      </head>
      <body class={isPlain ? 'plain' : undefined}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href="/">
            <img src="/assets/parley.svg" alt="" width="28" height="28" />
            Parley
          </a>
          {user && !isPlain && <Navigation user={user} section={head.section} />}
          {user && !isPlain && <Who user={user} />}
        </header>
        <main id="main" class={isPlain ? 'narrow' : 'wide'}>
          <h1>{head.heading ?? head.title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
}

function Navigation({ user, section }: { user: UserRow; section: string | undefined }) {
  const { own, administration } = entriesFor(user);
  return (
    <nav aria-label="Main">
      <ul>
        {[...own, ...administration].map(({ href, label }) => (
          <li>
            <a href={href} aria-current={href === section ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Who({ user }: { user: UserRow }) {
  return (
    <form method="post" action="/sign-out" class="who">
      <span>
        <span class="said">Signed in as </span>
        <bdi class="name">{user.name}</bdi>
      </span>
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  );
}
