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
import { text } from './text/text.ts';

const words = text.signUp;

const invitation: LinkPages = {
  kind: 'invitation',
  title: text.links.invitation.title,
  why: <p>{text.links.invitation.why}</p>,
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
    result instanceof RejectedForm ? result : throttled(c, text.fields.throttles.accounts, result.retrySeconds);
  return signUpPage(c, deps, next, { rejected, link: invited?.link });
}

/** Throws `unavailable` in words for somebody who has no account yet. */
function requireRoom({ services }: SiteDeps, isInvited: boolean): void {
  try {
    services.requireRoom();
  } catch (cause) {
    throw cause instanceof ParleyError ? new ParleyError(cause.code, words.noRoom({ isInvited })) : cause;
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
    { title: link ? words.join(name) : words.title, plain: true },
    <>
      {inviter && (
        <p class="lead">{words.invitedBy({ name: <bdi>{inviter.display_name}</bdi>, service: <bdi>{name}</bdi> })}</p>
      )}
      <p class="lead">{who ? words.signedIn(<bdi class="name">{who.user.name}</bdi>) : words.about}</p>
      <PersonForm action={c.req.path} button={words.signUp} rejected={rejected}>
        <input type="hidden" name="next" value={next} />
      </PersonForm>
      {!who && (
        <div class="aside">
          <p>
            {text.common.hasAccount((signIn) => (
              <a href={withNext('/sign-in', next)}>{signIn}</a>
            ))}
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
    { title: words.closed.title, plain: true },
    <div class="card">
      <p>{signUp === 'invitation' ? words.closed.invitation : words.closed.closed}</p>
      <p>
        <a href={href} class="button">
          {label}
        </a>
      </p>
    </div>,
    403,
  );
}
