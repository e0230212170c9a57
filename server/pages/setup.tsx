/** @jsxImportSource hono/jsx */
import { setUp } from '../auth/arrivals.ts';
import { program } from '../lib/program.ts';
import { PersonForm, readPerson } from './account-fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { show } from './layout.tsx';
import { type LinkPages, withLink } from './links.tsx';
import { letIn } from './session.ts';
import { type PageContext, type Site, type SiteDeps, sourceOf } from './site.ts';

const setupLink: LinkPages = {
  kind: 'setup',
  title: 'This link does not work',
  why: (
    <>
      <p>It has been used or has expired, or Parley has an administrator already.</p>
      <p>
        If Parley has no administrator yet, restart the server. It prints another link. Or run this on its machine:{' '}
        <code>{program} user add &lt;name&gt; --admin</code>.
      </p>
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
  return show(
    c,
    { title: 'Set up Parley', plain: true },
    <>
      <p class="lead">Welcome. Choose your name and a password: you will be the first administrator of this service.</p>
      <PersonForm action={c.req.path} button="Set up" rejected={rejected} />
    </>,
    rejected?.status,
  );
}
