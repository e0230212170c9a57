/** @jsxImportSource hono/jsx */

import type { Scope } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { usableBy } from '../auth/access-token.ts';
import type { AuthorizationCheck } from '../auth/oauth/oauth.ts';
import { requireRecentPassword } from '../auth/recent-password.ts';
import { hasGrant } from '../store/access/grants.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { type Destination, destinationOf } from './destination.ts';
import { show } from './layout.tsx';
import { withNext } from './next.ts';
import { FullName, Notice, named, ScopeList } from './parts.tsx';
import type { PageContext, SignedIn, Site, SiteDeps } from './site.ts';
import { text } from './text/text.ts';

const words = text.consent;

type Asking = Extract<AuthorizationCheck, { outcome: 'ask' }>;
type Faulty = Extract<AuthorizationCheck, { outcome: 'redirect' }>;

/** The consent page of OAuth. The request is in the URL, and is checked again at every step. */
export function consentPages(site: Site, deps: SiteDeps): void {
  site.get('/oauth/authorize', async (c) => {
    const { search, searchParams } = new URL(c.req.url);
    const check = await deps.oauth.check(searchParams, c.var.origin);
    if (check.outcome === 'refused') return refused(c, check.message);
    if (check.outcome === 'redirect') return returnWithError(c, deps, check);
    const { who } = c.var;
    if (who) requirePasswordFor(check, who, deps);
    return who ? ask(c, deps, who, check, search) : c.redirect(withNext('/sign-in', `${c.req.path}${search}`), 303);
  });

  site.post('/oauth/authorize', async (c) => {
    const { search, searchParams } = new URL(c.req.url);
    const { form, who } = c.var;
    // Another user is signed in by now, or nobody: ask again.
    const decision = form.get('decision');
    if (who?.user.user_id !== Number(form.get('user')) || (decision !== 'allow' && decision !== 'deny')) {
      return c.redirect(`${c.req.path}${search}`, 303);
    }
    const { user, caller } = who;
    const { tokenId } = caller;
    const check = await deps.oauth.check(searchParams, c.var.origin);
    if (check.outcome === 'redirect') return returnWithError(c, deps, check);
    if (decision === 'allow' && check.outcome === 'ask') requirePasswordFor(check, who, deps);
    const decider = { userId: user.user_id, isAdmin: user.is_admin, tokenId, address: c.env.context.clientIp() };
    const end = await deps.oauth.decide(searchParams, decider, decision === 'allow', c.var.origin);
    return end.outcome === 'refused' ? refused(c, end.message) : c.redirect(end.location, 303);
  });
}

/**
 * Takes an error to the app. Anybody can register an app and link to here, so only the URL of an app that the user has
 * authorized is followed at once. For any other a page says where the link leads.
 */
async function returnWithError(c: PageContext, { services }: SiteDeps, faulty: Faulty): Promise<Response> {
  const { location, client, redirect, fault } = faulty;
  const { who } = c.var;
  const isKnown = who && (await hasGrant(services.engine, who.user.user_id, client.appId, services.now()));
  if (isKnown) return c.redirect(location, 303);
  const { faulty: about } = words;
  return show(
    c,
    { ...named(client.name, about.title), plain: true },
    <div class="card">
      <p>{about.about}</p>
      <p class="muted">{about.fault({ error: <code>{fault.error}</code>, description: fault.description })}</p>
      <p>{about.unknown}</p>
      <p>
        <a href={location} rel="noreferrer nofollow">
          {about.returnTo(destinationOf(redirect).name)}
        </a>
      </p>
      <p>
        <a href="/">{text.common.frontPage}</a>
      </p>
    </div>,
    400,
  );
}

/** Asks for the password again before an app may administer the service. */
function requirePasswordFor({ scopes }: Asking, { user, caller }: SignedIn, { services }: SiteDeps): void {
  if (isPowerful(user, scopes)) requireRecentPassword(caller, services.now(), '/oauth/authorize');
}

/** Returns whether the app could administer the service for this user. */
export const isPowerful = (user: UserRow, scopes: readonly Scope[]): boolean =>
  usableBy({ isAdmin: user.is_admin }, scopes).includes('admin');

function ask(c: PageContext, deps: SiteDeps, who: SignedIn, { client, scopes, redirect }: Asking, search: string) {
  const destination = destinationOf(redirect);
  c.set('formTargets', destination.formTargets);
  const action = `${c.req.path}${search}`;
  const outcome = words.outcomes[destination.kind](<Target destination={destination} />);
  return askForConsent(c, deps, who, { client, scopes, action, page: action, outcome, refuse: words.goBack });
}

interface Question extends Pick<Asking, 'client' | 'scopes'> {
  /** Where the decision is sent. */
  readonly action: string;
  /** The page that asks again if another user signs in. */
  readonly page: string;
  /** Hidden fields, and what the user must know before they decide. */
  readonly children?: Child;
  /** A sentence about what follows the decision. */
  readonly outcome: Child;
  /** The label of the button if the user can allow nothing. */
  readonly refuse: string;
}

/** Asks the user whether an app may use their account. */
export async function askForConsent(
  c: PageContext,
  deps: SiteDeps,
  { user }: SignedIn,
  { client, scopes, action, page, children, outcome, refuse }: Question,
): Promise<Response> {
  const owner = client.ownerId === null ? undefined : await findUser(deps.services.engine, client.ownerId);
  const usable = usableBy({ isAdmin: user.is_admin }, scopes);
  return show(
    c,
    { ...named(client.name, words.title), plain: true },
    <>
      <div class="card">
        <section class="part" aria-label={words.app}>
          <p>{owner ? <Owner owner={owner} user={user} isByToken={client.isByToken} /> : words.ofParley}</p>
          <p class="muted">{words.clientId(<code>{client.clientId}</code>)}</p>
        </section>
        <section class="part" aria-labelledby="asks">
          <h2 id="asks">{words.asks}</h2>
          {usable.length > 0 ? <ScopeList scopes={usable} /> : <p>{words.notAllowed}</p>}
          {usable.includes('admin') && <Notice kind="bad">{words.asAdministrator}</Notice>}
          {usable.length > 0 && <p class="muted">{words.note}</p>}
        </section>
        <form class="part" method="post" action={action}>
          <p>{words.signedIn({ name: <FullName user={user} />, outcome })}</p>
          {children}
          <input type="hidden" name="user" value={user.user_id} />
          <div class="decision">
            {usable.length > 0 && (
              <button type="submit" name="decision" value="allow">
                {words.allow}
              </button>
            )}
            <button type="submit" name="decision" value="deny" class="quiet">
              {usable.length > 0 ? words.deny : refuse}
            </button>
          </div>
        </form>
      </div>
      <form method="post" action="/sign-out" class="aside">
        <input type="hidden" name="next" value={page} />
        {words.otherAccount({
          name: <bdi>{user.name}</bdi>,
          button: (label) => (
            <button type="submit" class="link">
              {label}
            </button>
          ),
        })}
      </form>
    </>,
  );
}

/** Whoever has an access token of the user can register an app in their name, so that one is not said to be theirs. */
function Owner({ owner, user, isByToken }: { owner: UserRow; user: UserRow; isByToken: boolean }) {
  const isOwn = owner.user_id === user.user_id;
  if (isOwn && !isByToken) return <>{words.own}</>;
  return <>{words.registeredBy({ name: <FullName user={owner} />, isByToken, isOwn })}</>;
}

const Target = ({ destination: { kind, name } }: { destination: Destination }) =>
  kind === 'site' ? <strong>{name}</strong> : <code>{name}</code>;

function refused(c: PageContext, message: string): Promise<Response> {
  return show(
    c,
    { title: words.refused.title, plain: true },
    <div class="card">
      <p>{message}</p>
      <p>{words.refused.about}</p>
      <p>
        <a href="/">{text.common.frontPage}</a>
      </p>
    </div>,
    400,
  );
}
