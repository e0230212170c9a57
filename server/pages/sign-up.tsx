/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { signUp } from '../auth/arrivals.ts';
import type { LinkRow } from '../store/access/links.ts';
import { findUser } from '../store/access/users.ts';
import { PersonForm, readPerson } from './account-fields.tsx';
import { frontPage } from './error-page.tsx';
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
    return c.var.who ? c.redirect(next, 303) : signUpPage(c, deps, next);
  });

  site.post('/sign-up', async (c) => (deps.signUp === 'open' ? createAccount(c, deps) : closedPage(c, deps)));

  site.get('/invitation/:secret', (c) =>
    deps.signUp === 'closed'
      ? closedPage(c, deps)
      : withLink(c, deps, invitation, (_, link) => signUpPage(c, deps, '/', { link })),
  );

  site.post('/invitation/:secret', (c) =>
    deps.signUp === 'closed'
      ? closedPage(c, deps)
      : withLink(c, deps, invitation, (secret, link) => createAccount(c, deps, { secret, link })),
  );
}

async function createAccount(
  c: PageContext,
  deps: SiteDeps,
  invited?: { readonly secret: string; readonly link: LinkRow },
): Promise<Response> {
  const { origin, form } = c.var;
  const next = localPath(origin, form.get('next'));
  const work = async () => {
    requireRoom(deps, invited !== undefined);
    return signUp(deps.services, deps.signUp, readPerson(form), invited?.secret, sourceOf(c));
  };
  const result = await attempt(c, work, 422);
  if (!(result instanceof RejectedForm) && result.outcome === 'signed up') return letIn(c, deps, result, next);
  const rejected =
    result instanceof RejectedForm
      ? result
      : throttled(c, 'Too many accounts were created from your network.', result.retrySeconds);
  return signUpPage(c, deps, next, { rejected, link: invited?.link });
}

/** Throws `unavailable` in words for somebody who has no account yet. */
function requireRoom({ services }: SiteDeps, isInvited: boolean): void {
  try {
    services.requireRoom();
  } catch (cause) {
    const message = `The server has no room for new accounts right now. ${isInvited ? 'Your invitation stays valid. ' : ''}Tell an administrator, and try again later.`;
    throw cause instanceof ParleyError ? new ParleyError(cause.code, message) : cause;
  }
}

interface SignUpPage {
  readonly rejected?: RejectedForm | undefined;
  readonly link?: LinkRow | undefined;
}

async function signUpPage(
  c: PageContext,
  { services: { engine } }: SiteDeps,
  next: string,
  { rejected, link }: SignUpPage = {},
): Promise<Response> {
  const { who } = c.var;
  const { serviceName: name } = c.var;
  const inviter = link?.created_by ? await findUser(engine, link.created_by) : undefined;
  return show(
    c,
    { title: link ? `Join ${name}` : 'Sign up', plain: true },
    <>
      {inviter && (
        <p class="lead">
          <bdi>{inviter.display_name}</bdi> invites you to <bdi>{name}</bdi>.
        </p>
      )}
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
  const { href, label } = frontPage(c);
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
        <a href={href} class="button">
          {label}
        </a>
      </p>
    </div>,
    403,
  );
}
