/** @jsxImportSource hono/jsx */
import { ParleyError, type Scope, scopeNames, type TokenId } from '@parley/contract';
import { parseScopes, scopesFor } from '../auth/access-token.ts';
import { endGrants } from '../auth/grants.ts';
import { type AuthorizedApp, listAuthorizedApps } from '../store/access/grants.ts';
import { listTokens } from '../store/access/tokens.ts';
import { callOperation } from './call.ts';
import { attempt, RejectedForm } from './form.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { once } from './once.tsx';
import { Card, Confirm, Item, Items, ScopeList } from './parts.tsx';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { Time } from './time.tsx';
import { type CreatedToken, lifetimeIn, NewToken, scopesIn, TokenForm, TokenList } from './tokens.tsx';

/** The apps that the user has authorized, and the user's tokens. */
export function accessPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/access', (c) => accessPage(c, deps, requireSignedIn(c)));

  site.post('/access', async (c) => {
    const who = requireSignedIn(c);
    const created = await attempt(c, () => once(services, c.var.form, () => createToken(deps, c, who)));
    return accessPage(c, deps, who, created);
  });

  site.post('/access/tokens/:id/revoke', async (c) => {
    const who = requireSignedIn(c);
    await callOperation(deps, c, who, 'tokens.revoke', { token_id: idIn<TokenId>(c, 'id') });
    return goTo(c, '/access', 'token-revoked');
  });

  site.post('/access/apps/:id/revoke', async (c) => {
    const { user, actor } = requireSignedIn(c);
    const appId = idIn(c, 'id');
    const { user_id: userId } = user;
    const apps = await listAuthorizedApps(services.engine, userId, services.now());
    const app = apps.find(({ app_id }) => app_id === appId);
    const details = { app_id: appId, name: app?.name };
    const end = { userId, which: { userId, appId }, actor, act: 'access_revoked', details } as const;
    if (!app || !(await endGrants(services, end))) {
      throw new ParleyError('not_found', 'You have not authorized this app.');
    }
    return goTo(c, '/access', 'access-ended');
  });
}

async function createToken(deps: SiteDeps, c: PageContext, who: SignedIn): Promise<CreatedToken> {
  const { form } = c.var;
  const name = form.get('name');
  const scopes = scopesIn(form);
  const expires_in = lifetimeIn(form);
  const { access_token } = await callOperation(deps, c, who, 'tokens.create', { name, scopes, expires_in });
  return { name, accessToken: access_token };
}

async function accessPage(c: PageContext, deps: SiteDeps, { user }: SignedIn, result?: CreatedToken | RejectedForm) {
  const { services } = deps;
  const apps = await listAuthorizedApps(services.engine, user.user_id, services.now());
  const tokens = await listTokens(services.engine, user.user_id, services.now());
  const rejected = result instanceof RejectedForm ? result : undefined;
  return show(
    c,
    { title: 'Access', section: '/access' },
    <>
      <NewToken created={result} origin={c.var.origin} />
      <Card title="Apps you have authorized">
        <Items none="No app can act for you." items={apps.map(appItem)} />
      </Card>
      <Card title="Personal access tokens">
        <p>For your own scripts and tools. Anyone with a token can act as you. Keep it secret.</p>
        <TokenList tokens={tokens} path="/access" />
      </Card>
      <TokenForm action="/access" offered={scopesFor(user)} rejected={rejected} by={services} />
    </>,
    rejected?.status,
  );
}

/** Returns the scopes of all authorizations of an app. */
const scopesOf = ({ scopes }: AuthorizedApp): Scope[] => {
  const granted = parseScopes(scopes.join(' '));
  return scopeNames.filter((scope) => granted.has(scope));
};

const appItem = (app: AuthorizedApp) => (
  <Item
    heading={<bdi>{app.name}</bdi>}
    facts={{ Since: <Time at={app.since} />, 'Last used': <Time at={app.last_used_at} /> }}
    action={
      <Confirm label="End its access" about={app.name} action={`/access/apps/${app.app_id}/revoke`}>
        <p>The app can no longer act for you, and its webhooks stop. To use it again, authorize it again.</p>
      </Confirm>
    }
  >
    <ScopeList scopes={scopesOf(app)} />
  </Item>
);
