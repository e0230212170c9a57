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
import { formOf, type PageContext, type Site, type SiteParts, show, sourceOf } from './site.tsx';
import { inWords } from './waiting.ts';

interface Asked {
  /** Where to go on to. */
  readonly next: string;
  readonly typed?: Form;
  readonly faults?: Faults;
  /** Why nobody can sign up right now. */
  readonly refusal?: string;
  readonly status?: number;
}

export function signUpPages(site: Site, parts: SiteParts): void {
  site.get('/sign-up', async (c) => {
    if (parts.signUp !== 'open') return notOpen(c, parts);
    const next = localPath(c.var.origin, c.req.query('next'));
    return c.var.who ? c.redirect(next, 303) : ask(c, { next });
  });

  site.post('/sign-up', async (c) => (parts.signUp === 'open' ? arrive(c, parts, undefined) : notOpen(c, parts)));

  site.get('/invitation/:secret', async (c) => {
    if (parts.signUp === 'closed') return notOpen(c, parts);
    return (await checkLink(parts.services, 'invitation', c.req.param('secret'))) ? ask(c, { next: '/' }) : unusable(c);
  });

  site.post('/invitation/:secret', async (c) => {
    if (parts.signUp === 'closed') return notOpen(c, parts);
    const secret = c.req.param('secret');
    return (await checkLink(parts.services, 'invitation', secret)) ? arrive(c, parts, secret) : unusable(c);
  });
}

async function arrive(c: PageContext, parts: SiteParts, invitation: string | undefined): Promise<Response> {
  const typed = formOf(c);
  const next = localPath(c.var.origin, typed.get('next'));
  const person = readPerson(typed);
  if (!person.ok) return ask(c, { next, typed, faults: person.faults, status: 422 });
  try {
    const result = await signUp(parts.services, parts.signUp, person.value, invitation, sourceOf(c));
    if (result.outcome === 'signed up') return await letIn(c, parts, result, next);
    c.header('retry-after', String(result.retrySeconds));
    const refusal = `Too many accounts were made from where you are. Try again in ${inWords(result.retrySeconds)}.`;
    return ask(c, { next, typed, refusal, status: 429 });
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'not_found') return unusable(c);
    const faults = faultsIn(error);
    if (!faults) throw error;
    return ask(c, { next, typed, faults, status: 422 });
  }
}

function ask(c: PageContext, { next, typed, faults, refusal, status }: Asked): Promise<Response> {
  const { who } = c.var;
  return show(
    c,
    { title: 'Sign up', plain: true },
    <>
      {refusal && <Notice kind="bad">{refusal}</Notice>}
      {who ? (
        <p class="lead">
          You are signed in as <bdi class="name">{who.user.name}</bdi>. This makes another account, and signs you in
          with that.
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
            You have an account already? <a href={withNext('/sign-in', next)}>Sign in</a>
          </p>
        </div>
      )}
    </>,
    status,
  );
}

function notOpen(c: PageContext, parts: SiteParts): Promise<Response> {
  return show(
    c,
    { title: 'You cannot sign up here', plain: true },
    <div class="card">
      {parts.signUp === 'invitation' ? (
        <p>You need an invitation. Ask an administrator for one, and open its link.</p>
      ) : (
        <p>Nobody can make an account by themselves. Ask an administrator to create one for you.</p>
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
    <p>It has been used or withdrawn, or has expired. Ask whoever sent it for another.</p>,
  );
