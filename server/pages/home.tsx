/** @jsxImportSource hono/jsx */
import { countAdmins } from '../store/access/users.ts';
import { clientPages } from './client.tsx';
import { type Entry, entriesFor, show } from './layout.tsx';
import { named } from './parts.tsx';
import { greeting } from './programs.ts';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps, wantsPage } from './site.ts';
import { text } from './text/text.ts';

const words = text.home;

export function homePages(site: Site, deps: SiteDeps): void {
  const openClient = clientPages(site, deps);

  site.get('/', async (c) => {
    if (!wantsPage(c)) {
      // Set here, because the default type of the runtime is lost when headers are added.
      return c.text(greeting(deps.version), 200, { 'content-type': 'text/plain; charset=utf-8' });
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
    { ...named(user.display_name, words.hello), section: '/settings' },
    <>
      <p class="lead">
        {words.about((chats) => (
          <a href="/">{chats}</a>
        ))}
      </p>
      <Tiles entries={views} />
      <section aria-labelledby="account">
        <h2 id="account">{words.account}</h2>
        <Tiles entries={own} />
      </section>
      {administration.length > 0 && (
        <section aria-labelledby="administration">
          <h2 id="administration">{words.administration}</h2>
          <Tiles entries={administration} />
        </section>
      )}
      <p class="muted">
        {words.programs((reference) => (
          <a href="/docs">{reference}</a>
        ))}
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
  const { title, about, link } = words.notSetUp;
  return show(
    c,
    { title },
    <div class="card">
      <p>{about}</p>
      <p>{link()}</p>
      <p class="muted">
        {text.common.hasAccount((signIn) => (
          <a href="/sign-in">{signIn}</a>
        ))}
      </p>
    </div>,
  );
}
