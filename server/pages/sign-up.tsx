/** @jsxImportSource hono/jsx */
import { signUp } from '../auth/arrivals.ts';
import { PersonForm, readPerson } from './account-fields.tsx';
import { attempt, RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { type LinkPages, withLink } from './links.tsx';
import { localPath, withNext } from './next.ts';
import { letIn } from './session.ts';
import { type PageContext, type Site, type SiteDeps, sourceOf } from './site.ts';

const invitation: LinkPages = {
  kind: 'invitation',
  title: 'This invitation does not work',
  why: <p>It has been used or withdrawn, or has expired. Ask the person who sent it for another.</p>,
};

export function signUpPages(site: Site, deps: SiteDeps): void {
  site.get('/sign-up', async (c) => {
    if (deps.signUp !== 'open') return closedPage(c, deps);
    const next = localPath(c.var.origin, c.req.query('next'));
    return c.var.who ? c.redirect(next, 303) : signUpPage(c, next);
  });

  site.post('/sign-up', async (c) => (deps.signUp === 'open' ? createAccount(c, deps) : closedPage(c, deps)));

  site.get('/invitation/:secret', (c) =>
    deps.signUp === 'closed' ? closedPage(c, deps) : withLink(c, deps, invitation, () => signUpPage(c, '/')),
  );

  site.post('/invitation/:secret', (c) =>
    deps.signUp === 'closed'
      ? closedPage(c, deps)
      : withLink(c, deps, invitation, (secret) => createAccount(c, deps, secret)),
  );
}

async function createAccount(c: PageContext, deps: SiteDeps, secret?: string): Promise<Response> {
  const { origin, form } = c.var;
  const next = localPath(origin, form.get('next'));
  deps.services.requireRoom();
  const result = await attempt(c, () => signUp(deps.services, deps.signUp, readPerson(form), secret, sourceOf(c)), 422);
  if (result instanceof RejectedForm) return signUpPage(c, next, result);
  if (result.outcome === 'signed up') return letIn(c, deps, result, next);
  return signUpPage(c, next, throttled(c, 'Too many accounts were created from your network.', result.retrySeconds));
}

function signUpPage(c: PageContext, next: string, rejected?: RejectedForm): Promise<Response> {
  const { who } = c.var;
  return show(
    c,
    { title: 'Sign up', plain: true },
    <>
      {who ? (
        <p class="lead">
          You are signed in as <bdi class="name">{who.user.name}</bdi>. This creates another account and signs you in to
          it.
        </p>
      ) : (
        <p class="lead">Choose a name and a password.</p>
      )}
      <PersonForm action={c.req.path} button="Sign up" rejected={rejected}>
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
    rejected?.status,
  );
}

function closedPage(c: PageContext, { signUp }: SiteDeps): Promise<Response> {
  return show(
    c,
    { title: 'You cannot sign up here', plain: true },
    <div class="card">
      <p>
        {signUp === 'invitation'
          ? 'You need an invitation. Ask an administrator for one, and open its link.'
          : 'Only administrators can create accounts here. Ask one to create yours.'}
      </p>
      <p>
        <a href="/sign-in">Sign in</a>
      </p>
    </div>,
    403,
  );
}
