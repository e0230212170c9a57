/** @jsxImportSource hono/jsx */
import { countAdmins } from '../store/access/users.ts';
import { clientPages } from './client.tsx';
import { type Entry, entriesFor, show } from './layout.tsx';
import { named } from './parts.tsx';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps, wantsPage } from './site.ts';

export function homePages(site: Site, deps: SiteDeps): void {
  const openClient = clientPages(site, deps);

  site.get('/', async (c) => {
    if (!wantsPage(c)) {
      const text = `Parley ${deps.version}\nThe API is at /api, its description at /api/openapi.json.\n`;
      // Set here, because the default type of the runtime is lost when headers are added.
      return c.text(text, 200, { 'content-type': 'text/plain; charset=utf-8' });
    }
    const { who } = c.var;
    if (who) return openClient(c, who);
    return (await countAdmins(deps.services.engine)) > 0 ? c.redirect('/sign-in', 303) : notSetUp(c);
  });

  site.get('/settings', (c) => overview(c, requireSignedIn(c)));
}

function overview(c: PageContext, { user }: SignedIn): Promise<Response> {
  const { views, own, administration } = entriesFor(user);
  return show(
    c,
    { ...named(user.display_name, 'Hello, '), section: '/settings' },
    <>
      <p class="lead">
        Change how Parley looks to you and you to others, or <a href="/">go to your chats</a>.
      </p>
      <Tiles entries={views} />
      <section aria-labelledby="account">
        <h2 id="account">Account</h2>
        <Tiles entries={own} />
      </section>
      {administration.length > 0 && (
        <section aria-labelledby="administration">
          <h2 id="administration">Administration</h2>
          <Tiles entries={administration} />
        </section>
      )}
      <p class="muted">
        For programs: the API is at <code>/api</code>. Read and try it in the <a href="/docs">API reference</a>.
      </p>
    </>,
  );
}

function Tiles({ entries }: { entries: readonly Entry[] }) {
  return (
    <ul class="tiles">
      {entries.map(({ href, label, about }) => (
        <li class="card">
          <a href={href}>{label}</a>
          <p class="muted">{about}</p>
        </li>
      ))}
    </ul>
  );
}

function notSetUp(c: PageContext): Promise<Response> {
  return show(
    c,
    { title: 'Parley is not set up yet' },
    <div class="card">
      <p>It is running, and needs its first administrator.</p>
      <p>
        Open the set-up link that the server printed when it started. It is also in the file <code>setup-link</code> in
        its data folder.
      </p>
      <p class="muted">
        Already have an account? <a href="/sign-in">Sign in</a>
      </p>
    </div>,
  );
}
