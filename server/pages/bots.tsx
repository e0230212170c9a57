/** @jsxImportSource hono/jsx */
import {
  botScopes,
  displayName as displayNameRule,
  type TokenId,
  title as titleRule,
  type UserId,
  userName,
} from '@parley/contract';
import { z } from 'zod';
import { accessBot, createBot, createBotToken, revokeBotToken } from '../auth/bots.ts';
import { validate } from '../http/validate.ts';
import { disableBot } from '../operations/users.ts';
import { type AppRow, listApps } from '../store/access/apps.ts';
import { listTokens } from '../store/access/tokens.ts';
import { listBots, type UserRow } from '../store/access/users.ts';
import { NameFields } from './account-fields.tsx';
import { PostForm } from './fields.tsx';
import { attempt, RejectedForm } from './form.ts';
import { idIn } from './ids.ts';
import { show } from './layout.tsx';
import { goTo } from './notices.tsx';
import { once } from './once.tsx';
import { Card, Confirm, Facts, Item, Items, NameLink, named } from './parts.tsx';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { Time } from './time.tsx';
import { type CreatedToken, lifetimeIn, NewToken, scopesIn, TokenForm, TokenList } from './tokens.tsx';

const botRule = z.object({ name: userName, display_name: displayNameRule });
const tokenRule = z.object({ name: titleRule });

/** The bots of the signed-in user. */
export function botPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/bots', (c) => botsPage(c, deps, requireSignedIn(c)));

  site.post('/bots', async (c) => {
    const who = requireSignedIn(c);
    const { form } = c.var;
    const bot = await attempt(c, async () => {
      services.requireRoom();
      const given = { name: form.get('name'), display_name: form.get('display_name') || form.get('name') };
      const { name, display_name: displayName } = validate(botRule, given);
      return createBot(services, who.actor, { name, displayName });
    });
    if (bot instanceof RejectedForm) return botsPage(c, deps, who, bot);
    return goTo(c, `/bots/${bot.user_id}`, 'bot-created');
  });

  const botIn = (c: PageContext, { user }: SignedIn) => accessBot(services.engine, user.user_id, idIn<UserId>(c, 'id'));

  site.get('/bots/:id', async (c) => {
    const who = requireSignedIn(c);
    return botPage(c, deps, who, await botIn(c, who));
  });

  site.post('/bots/:id', async (c) => {
    const who = requireSignedIn(c);
    const bot = await botIn(c, who);
    const { form } = c.var;
    const created = await attempt(c, async () => {
      services.requireRoom();
      const { name } = validate(tokenRule, { name: form.get('name') });
      const scopes = scopesIn(form);
      const expiresIn = lifetimeIn(form);
      const work = () => createBotToken(services, who.actor, bot.user_id, { name, scopes, expiresIn });
      return { name: form.get('name'), accessToken: (await once(services, form, work)).accessToken };
    });
    return botPage(c, deps, who, bot, created);
  });

  site.post('/bots/:id/tokens/:token/revoke', async (c) => {
    const { actor } = requireSignedIn(c);
    const botId = idIn<UserId>(c, 'id');
    await revokeBotToken(services, actor, botId, idIn<TokenId>(c, 'token'));
    return goTo(c, `/bots/${botId}`, 'token-revoked');
  });

  site.post('/bots/:id/disable', async (c) => {
    const { actor } = requireSignedIn(c);
    await disableBot(services, actor, idIn<UserId>(c, 'id'));
    return goTo(c, '/bots', 'bot-disabled');
  });
}

/** The name of the app that acts as a bot, or undefined if there is none. */
function appOf(bot: UserRow, apps: readonly AppRow[]) {
  const app = apps.find(({ bot_id }) => bot_id === bot.user_id);
  return app && <NameLink href={`/apps/${app.app_id}`} name={app.name} />;
}

async function botsPage(c: PageContext, { services }: SiteDeps, { user }: SignedIn, rejected?: RejectedForm) {
  const bots = await listBots(services.engine, user.user_id);
  const apps = await listApps(services.engine, user.user_id);
  const items = bots.map((bot) => (
    <Item
      heading={<NameLink href={`/bots/${bot.user_id}`} name={bot.name} />}
      facts={{
        'Display name': <bdi>{bot.display_name}</bdi>,
        'Bot of the app': appOf(bot, apps),
        Created: <Time at={bot.created_at} />,
      }}
    />
  ));
  return show(
    c,
    { title: 'Bots', section: '/bots' },
    <>
      <p>A bot is an automated account. It has its own access tokens, and you are responsible for it.</p>
      <Card title="Your bots">
        <Items none="You have no bots." items={items} />
      </Card>
      <Card title="Create a bot">
        <PostForm action="/bots" button="Create the bot" rejected={rejected}>
          <NameFields hint="Letters, digits, and . _ - between them. It cannot be changed later." rejected={rejected} />
        </PostForm>
      </Card>
    </>,
    rejected?.status,
  );
}

/** The page of one bot, for its owner. */
async function botPage(
  c: PageContext,
  { services }: SiteDeps,
  { user }: SignedIn,
  bot: UserRow,
  result?: CreatedToken | RejectedForm,
) {
  const tokens = await listTokens(services.engine, bot.user_id, services.now());
  const app = appOf(bot, await listApps(services.engine, user.user_id));
  const path = `/bots/${bot.user_id}`;
  const rejected = result instanceof RejectedForm ? result : undefined;
  const facts = {
    'Display name': <bdi>{bot.display_name}</bdi>,
    'User ID': bot.user_id,
    'Bot of the app': app,
    Created: <Time at={bot.created_at} />,
  };
  return show(
    c,
    { ...named(bot.name), section: '/bots', back: 'All your bots' },
    <>
      <NewToken created={result} origin={c.var.origin} />
      <Card title="About">
        <Facts facts={facts} />
      </Card>
      <Card title="Access tokens">
        <TokenList tokens={tokens} path={path} />
      </Card>
      <TokenForm action={path} offered={botScopes} rejected={rejected} by={services} />
      <Card title="Disable">
        <p>The messages of the bot stay.</p>
        <Confirm label="Disable the bot" action={`${path}/disable`}>
          <p>
            Its access tokens and webhooks end at once.
            {app && ' Its app can no longer act as it.'} Only an administrator can enable it again.
          </p>
        </Confirm>
      </Card>
    </>,
    rejected?.status,
  );
}
