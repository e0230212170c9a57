/** @jsxImportSource hono/jsx */
import { invalidField, ParleyError, type Scope, scopeNames, type TokenId } from '@parley/contract';
import { parseScopes, scopesFor } from '../auth/access-token.ts';
import { endGrants, type GrantEnd } from '../auth/grants.ts';
import { type AuthorizedApp, listAuthorizedApps } from '../store/access/grants.ts';
import { listTokens } from '../store/access/tokens.ts';
import { callOperation } from './call.ts';
import { Facts } from './facts.tsx';
import { idIn } from './ids.ts';
import { DoneNotice, goTo } from './notices.tsx';
import { Once, once } from './once.tsx';
import { Confirm, ScopeList, Time } from './parts.tsx';
import { type Refusal, tried } from './refusal.tsx';
import { formOf, type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps, show } from './site.tsx';
import { NewToken, nothingTyped, readTokenForm, TokenForm, TokenList, type TokenTyped } from './tokens.tsx';

const daySeconds = 86_400;

/** The choices for the expiry of a token. */
const lifetimes: Readonly<Record<string, { readonly words: string; readonly seconds: number | undefined }>> = {
  never: { words: 'Never', seconds: undefined },
  '30d': { words: 'In 30 days', seconds: 30 * daySeconds },
  '90d': { words: 'In 90 days', seconds: 90 * daySeconds },
  '365d': { words: 'In 365 days', seconds: 365 * daySeconds },
};
const lifetimeWords = Object.fromEntries(Object.entries(lifetimes).map(([key, { words }]) => [key, words]));

/** The apps that the user has authorized, and the user's tokens. */
export function accessPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/access', (c) => accessPage(c, deps, requireSignedIn(c), {}));

  site.post('/access', async (c) => {
    const who = requireSignedIn(c);
    const form = formOf(c);
    const typed = readTokenForm(form);
    const made = await tried(() => once(services, form, () => createToken(deps, c, who, typed)));
    if (!made.ok) return accessPage(c, deps, who, { typed, refusal: made.refusal });
    return accessPage(c, deps, who, { made: { name: typed.name, accessToken: made.value } });
  });

  site.post('/access/tokens/:id/revoke', async (c) => {
    const who = requireSignedIn(c);
    await callOperation(deps, c, who, 'tokens.revoke', { token_id: idIn<TokenId>(c, 'id') });
    return goTo(c, '/access', 'token-revoked');
  });

  site.post('/access/apps/:id/revoke', async (c) => {
    const { user, actor } = requireSignedIn(c);
    const appId = idIn(c, 'id');
    const apps = await listAuthorizedApps(services.engine, user.user_id, services.now());
    const app = apps.find(({ app_id }) => app_id === appId);
    const { user_id: userId } = user;
    const details = { app_id: appId, name: app?.name };
    const end: GrantEnd = { userId, which: { userId, appId }, actor, act: 'access_revoked', details };
    if (!app || !(await endGrants(services, end))) {
      throw new ParleyError('not_found', 'You have not authorized this app.');
    }
    return goTo(c, '/access', 'access-ended');
  });
}

async function createToken(deps: SiteDeps, c: PageContext, who: SignedIn, typed: TokenTyped): Promise<string> {
  if (typed.scopes.length === 0) throw invalidField('scopes', 'needs at least one choice');
  const lifetime = Object.hasOwn(lifetimes, typed.expires) ? lifetimes[typed.expires] : undefined;
  if (!lifetime) throw invalidField('expires', 'must be one of the choices');
  const { access_token } = await callOperation(deps, c, who, 'tokens.create', {
    name: typed.name,
    scopes: typed.scopes,
    expires_in: lifetime.seconds,
  });
  return access_token;
}

interface AccessState {
  readonly typed?: TokenTyped;
  readonly refusal?: Refusal;
  readonly made?: { readonly name: string; readonly accessToken: string };
}

async function accessPage(c: PageContext, deps: SiteDeps, { user }: SignedIn, state: AccessState) {
  const { engine, now } = deps.services;
  const apps = await listAuthorizedApps(engine, user.user_id, now());
  const tokens = await listTokens(engine, user.user_id, now());
  return show(
    c,
    { title: 'Access', section: '/access' },
    <>
      <DoneNotice c={c} />
      {state.made && <NewToken {...state.made} origin={c.var.origin} />}
      <section class="card">
        <h2>Apps you have authorized</h2>
        <AppList apps={apps} />
      </section>
      <section class="card">
        <h2>Personal access tokens</h2>
        <p>For your own scripts and tools. Anyone with a token can act as you. Keep it secret.</p>
        <TokenList tokens={tokens} revokeAt={({ token_id }) => `/access/tokens/${token_id}/revoke`} />
      </section>
      <section class="card">
        <h2>Create an access token</h2>
        <TokenForm
          action="/access"
          offered={scopesFor(user)}
          lifetimes={lifetimeWords}
          typed={state.typed ?? nothingTyped}
          refusal={state.refusal}
        >
          <Once by={deps.services} />
        </TokenForm>
      </section>
    </>,
    state.refusal?.status,
  );
}

/** The scopes of all authorizations of an app. */
const scopesOf = ({ scopes }: AuthorizedApp): Scope[] => {
  const may = parseScopes(scopes.join(' '));
  return scopeNames.filter((scope) => may.has(scope));
};

function AppList({ apps }: { apps: readonly AuthorizedApp[] }) {
  if (apps.length === 0) return <p class="muted">No app can act for you.</p>;
  return (
    <ul class="items">
      {apps.map((app) => (
        <li>
          <div>
            <h3>
              <bdi>{app.name}</bdi>
            </h3>
            <ScopeList scopes={scopesOf(app)} />
            <Facts small facts={{ Since: <Time at={app.since} />, 'Last used': <Time at={app.last_used_at} /> }} />
          </div>
          <Confirm what="End its access" about={app.name} action={`/access/apps/${app.app_id}/revoke`}>
            <p>The app can no longer act for you, and its webhooks stop. To use it again, authorize it again.</p>
          </Confirm>
        </li>
      ))}
    </ul>
  );
}
