/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { setUp } from '../auth/arrivals.ts';
import { checkLink } from '../auth/links.ts';
import { letIn } from './arrival.ts';
import { type Faults, type Form, faultsIn } from './form.ts';
import { gone } from './gone.tsx';
import { PersonForm, readPerson } from './new-person.tsx';
import { formOf, type PageContext, type Site, type SiteDeps, show } from './site.tsx';

/** The set-up link, which the server prints at its start, creates the first administrator. */
export function setupPages(site: Site, deps: SiteDeps): void {
  site.get('/setup/:secret', async (c) => {
    const secret = c.req.param('secret');
    return (await checkLink(deps.services, 'setup', secret)) ? ask(c) : unusable(c);
  });

  site.post('/setup/:secret', async (c) => {
    const secret = c.req.param('secret');
    if (!(await checkLink(deps.services, 'setup', secret))) return unusable(c);
    const form = formOf(c);
    const person = readPerson(form);
    if (!person.ok) return ask(c, form, person.faults);
    try {
      const arrival = await setUp(deps.services, secret, person.value, c.env.context.clientIp());
      deps.setUpDone();
      return await letIn(c, deps, arrival);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not_found') return unusable(c);
      const faults = faultsIn(error);
      if (!faults) throw error;
      return ask(c, form, faults);
    }
  });
}

function ask(c: PageContext, typed?: Form, faults?: Faults): Promise<Response> {
  return show(
    c,
    { title: 'Set up Parley', plain: true },
    <>
      <p class="lead">Welcome. Choose your name and a password: you will be the first administrator of this service.</p>
      <PersonForm action={c.req.path} button="Set up" typed={typed} faults={faults} />
    </>,
    faults ? 422 : 200,
  );
}

const unusable = (c: PageContext): Promise<Response> =>
  gone(
    c,
    'This link does not work',
    <>
      <p>It has been used or has expired, or Parley has an administrator already.</p>
      <p>
        If Parley has no administrator yet, restart the server. It prints another link. Or run this on its machine:{' '}
        <code>npx parley user add &lt;name&gt; --admin</code>.
      </p>
    </>,
  );
