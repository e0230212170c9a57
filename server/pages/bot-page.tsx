/** @jsxImportSource hono/jsx */
import { type Scope, scopeNames } from '@parley/contract';
import { type AppRow, listApps } from '../store/access/apps.ts';
import { listTokens } from '../store/access/tokens.ts';
import type { UserRow } from '../store/access/users.ts';
import { Facts } from './facts.tsx';
import { named } from './names.tsx';
import { DoneNotice } from './notices.tsx';
import { Once } from './once.tsx';
import { Confirm, Time } from './parts.tsx';
import type { Refusal } from './refusal.tsx';
import { type PageContext, type SignedIn, type SiteDeps, show } from './site.tsx';
import { NewToken, nothingTyped, TokenForm, TokenList, type TokenTyped } from './tokens.tsx';

/** A bot cannot be an administrator. */
const offered: readonly Scope[] = scopeNames.filter((scope) => scope !== 'admin');

/** Returns the app that acts as a bot. */
export const appOf = (bot: UserRow, apps: readonly AppRow[]): AppRow | undefined =>
  apps.find(({ bot_id }) => bot_id === bot.user_id);

export const AppName = ({ app }: { app: AppRow }) => (
  <a href={`/apps/${app.app_id}`}>
    <bdi>{app.name}</bdi>
  </a>
);

interface BotState {
  readonly typed?: TokenTyped;
  readonly refusal?: Refusal;
  readonly made?: { readonly name: string; readonly accessToken: string };
}

/** The page of one bot, for its owner. */
export async function botPage(
  c: PageContext,
  { services }: SiteDeps,
  { user }: SignedIn,
  bot: UserRow,
  state: BotState,
) {
  const tokens = await listTokens(services.engine, bot.user_id, services.now());
  const app = appOf(bot, await listApps(services.engine, user.user_id));
  const path = `/bots/${bot.user_id}`;
  return show(
    c,
    { ...named(bot.name), section: '/bots' },
    <>
      <p>
        <a href="/bots">All your bots</a>
      </p>
      <DoneNotice c={c} />
      {state.made && <NewToken {...state.made} origin={c.var.origin} />}
      <section class="card">
        <h2>About</h2>
        <Facts
          facts={{
            'Display name': <bdi>{bot.display_name}</bdi>,
            'User ID': bot.user_id,
            'Bot of the app': app && <AppName app={app} />,
            Created: <Time at={bot.created_at} />,
          }}
        />
      </section>
      <section class="card">
        <h2>Access tokens</h2>
        <TokenList tokens={tokens} revokeAt={({ token_id }) => `${path}/tokens/${token_id}/revoke`} />
      </section>
      <section class="card">
        <h2>Create an access token</h2>
        <TokenForm action={path} offered={offered} typed={state.typed ?? nothingTyped} refusal={state.refusal}>
          <Once by={services} />
        </TokenForm>
      </section>
      <section class="card">
        <h2>Disable</h2>
        <p>The messages of the bot stay.</p>
        <Confirm what="Disable the bot" action={`${path}/disable`}>
          <p>
            Its access tokens and webhooks end at once.
            {app && ' Its app can no longer act as it.'} Only an administrator can enable it again.
          </p>
        </Confirm>
      </section>
    </>,
    state.refusal?.status,
  );
}
