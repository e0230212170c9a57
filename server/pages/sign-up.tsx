/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { signUp } from '../auth/arrivals.ts';
import { checkLink } from '../auth/links.ts';
import { letIn } from './arrival.ts';
import { type Faults, type Form, faultsIn } from './form.ts';
import { gone } from './gone.tsx';
import { PersonForm, readPerson } from './new-person.tsx';
import { localPath, withNext } from './next.ts';
import { Notice } from './parts.tsx';
import { formOf, type PageContext, type Site, type SiteDeps, show, sourceOf } from './site.tsx';
import { inWords } from './waiting.ts';

interface Prompt {
  readonly next: string;
  readonly typed?: Form;
  readonly faults?: Faults;
  readonly refusal?: string;
  readonly status?: number;
}

export function signUpPages(site: Site, deps: SiteDeps): void {
  site.get('/sign-up', async (c) => {
    if (deps.signUp !== 'open') return notOpen(c, deps);
    const next = localPath(c.var.origin, c.req.query('next'));
    return c.var.who ? c.redirect(next, 303) : ask(c, { next });
  });

  site.post('/sign-up', async (c) => (deps.signUp === 'open' ? arrive(c, deps, undefined) : notOpen(c, deps)));

  site.get('/invitation/:secret', async (c) => {
    if (deps.signUp === 'closed') return notOpen(c, deps);
    return (await checkLink(deps.services, 'invitation', c.req.param('secret'))) ? ask(c, { next: '/' }) : unusable(c);
  });

  site.post('/invitation/:secret', async (c) => {
    if (deps.signUp === 'closed') return notOpen(c, deps);
    const secret = c.req.param('secret');
    return (await checkLink(deps.services, 'invitation', secret)) ? arrive(c, deps, secret) : unusable(c);
  });
}

async function arrive(c: PageContext, deps: SiteDeps, invitation: string | undefined): Promise<Response> {
  const typed = formOf(c);
  const next = localPath(c.var.origin, typed.get('next'));
  const person = readPerson(typed);
  if (!person.ok) return ask(c, { next, typed, faults: person.faults, status: 422 });
  try {
    const result = await signUp(deps.services, deps.signUp, person.value, invitation, sourceOf(c));
    if (result.outcome === 'signed up') return await letIn(c, deps, result, next);
    c.header('retry-after', String(result.retrySeconds));
    const refusal = `Too many accounts were created from your network. Try again in ${inWords(result.retrySeconds)}.`;
    return ask(c, { next, typed, refusal, status: 429 });
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'not_found') return unusable(c);
    const faults = faultsIn(error);
    if (!faults) throw error;
    return ask(c, { next, typed, faults, status: 422 });
  }
}

function ask(c: PageContext, { next, typed, faults, refusal, status }: Prompt): Promise<Response> {
  const { who } = c.var;
  return show(
    c,
    { title: 'Sign up', plain: true },
    <>
      {refusal && <Notice kind="bad">{refusal}</Notice>}
      {who ? (
        <p class="lead">
          You are signed in as <bdi class="name">{who.user.name}</bdi>. This creates another account and signs you in to
          it.
        </p>
      ) : (
        <p class="lead">Choose a name and a password.</p>
      )}
      <PersonForm action={c.req.path} button="Sign up" typed={typed} faults={faults}>
        <input type="hidden" name="next" value={next} />
      </PersonForm>
      {!who && (
        <div class="aside">
          <p>
            Already have an account? <a href={withNext('/sign-in', next)}>Sign in</a>
          </p>
        </div>
      )}
    </>,
    status,
  );
}

function notOpen(c: PageContext, deps: SiteDeps): Promise<Response> {
  return show(
    c,
    { title: 'You cannot sign up here', plain: true },
    <div class="card">
      {deps.signUp === 'invitation' ? (
        <p>You need an invitation. Ask an administrator for one, and open its link.</p>
      ) : (
        <p>Only administrators can create accounts here. Ask one to create yours.</p>
      )}
      <p>
        <a href="/sign-in">Sign in</a>
      </p>
    </div>,
    403,
  );
}

const unusable = (c: PageContext): Promise<Response> =>
  gone(
    c,
    'This invitation does not work',
    <p>It has been used or withdrawn, or has expired. Ask the person who sent it for another.</p>,
  );
