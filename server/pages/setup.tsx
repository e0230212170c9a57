/** @jsxImportSource hono/jsx */
import { setUp } from '../auth/arrivals.ts';
import { program } from '../lib/program.ts';
import { PersonForm, readPerson } from './account-fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { show } from './layout.tsx';
import { type LinkPages, withLink } from './links.tsx';
import { letIn } from './session.ts';
import { type PageContext, type Site, type SiteDeps, sourceOf } from './site.ts';
import { text } from './text/text.ts';

const setupLink: LinkPages = {
  kind: 'setup',
  title: text.links.setup.title,
  why: (
    <>
      <p>{text.links.setup.why}</p>
      <p>{text.links.setup.another(program)}</p>
    </>
  ),
};

/** The set-up link, which the server prints at its start, creates the first administrator. */
export function setupPages(site: Site, deps: SiteDeps): void {
  site.get('/setup/:secret', (c) => withLink(c, deps, setupLink, () => setupPage(c)));

  site.post('/setup/:secret', (c) =>
    withLink(c, deps, setupLink, async (secret) => {
      const { form } = c.var;
      const arrival = await attempt(c, () => setUp(deps.services, secret, readPerson(form), sourceOf(c)), 422);
      if (arrival instanceof RejectedForm) return setupPage(c, arrival);
      deps.setUpDone();
      return letIn(c, deps, arrival);
    }),
  );
}

function setupPage(c: PageContext, rejected?: RejectedForm): Promise<Response> {
  const words = text.setup;
  return show(
    c,
    { title: words.title, plain: true },
    <>
      <p class="lead">{words.about}</p>
      <PersonForm action={c.req.path} button={words.setUp} rejected={rejected} />
    </>,
    rejected?.status,
  );
}
