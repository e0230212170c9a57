/** @jsxImportSource hono/jsx */
import { invalidField, type TokenId, title as titleRule, type UserId, userName } from '@parley/contract';
import { z } from 'zod';
import { accessBot, createBot, createBotToken, revokeBotToken } from '../auth/bots.ts';
import { validate } from '../http/validate.ts';
import { disableBot } from '../operations/users.ts';
import { type AppRow, listApps } from '../store/access/apps.ts';
import { listBots, type UserRow } from '../store/access/users.ts';
import { AppName, appOf, botPage } from './bot-page.tsx';
import { Facts } from './facts.tsx';
import { idIn } from './ids.ts';
import { DoneNotice, goTo } from './notices.tsx';
import { once } from './once.tsx';
import { Field, Time } from './parts.tsx';
import { type Refusal, RefusalNotice, tried } from './refusal.tsx';
import { formOf, type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps, show } from './site.tsx';
import { readTokenForm } from './tokens.tsx';

const botRule = z.object({ name: userName, display_name: titleRule });
const tokenRule = z.object({ name: titleRule });

/** The bots of the signed-in user. */
export function botPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/bots', (c) => botsPage(c, deps, requireSignedIn(c), { name: '', displayName: '' }));

  site.post('/bots', async (c) => {
    const who = requireSignedIn(c);
    const form = formOf(c);
    const typed = { name: form.get('name'), displayName: form.get('display_name') };
    const made = await tried(async () => {
      const { name, display_name } = validate(botRule, {
        name: typed.name,
        display_name: typed.displayName || typed.name,
      });
      return createBot(services, who.actor, { name, displayName: display_name });
    });
    if (!made.ok) return botsPage(c, deps, who, typed, made.refusal);
    return goTo(c, `/bots/${made.value.user_id}`, 'bot-created');
  });

  const botIn = (c: PageContext, { user }: SignedIn) => accessBot(services.engine, user.user_id, idIn<UserId>(c, 'id'));

  site.get('/bots/:id', async (c) => {
    const who = requireSignedIn(c);
    return botPage(c, deps, who, await botIn(c, who), {});
  });

  site.post('/bots/:id', async (c) => {
    const who = requireSignedIn(c);
    const bot = await botIn(c, who);
    const form = formOf(c);
    const typed = readTokenForm(form);
    const made = await tried(() => {
      const { name } = validate(tokenRule, { name: typed.name });
      if (typed.scopes.length === 0) throw invalidField('scopes', 'needs at least one choice');
      const { scopes } = typed;
      return once(services, form, () => createBotToken(services, who.actor, bot.user_id, { name, scopes }));
    });
    if (!made.ok) return botPage(c, deps, who, bot, { typed, refusal: made.refusal });
    return botPage(c, deps, who, bot, { made: { name: typed.name, accessToken: made.value.accessToken } });
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

interface BotTyped {
  readonly name: string;
  readonly displayName: string;
}

async function botsPage(
  c: PageContext,
  { services }: SiteDeps,
  { user }: SignedIn,
  typed: BotTyped,
  refusal?: Refusal,
) {
  const bots = await listBots(services.engine, user.user_id);
  const apps = await listApps(services.engine, user.user_id);
  const faults = refusal?.faults;
  return show(
    c,
    { title: 'Bots', section: '/bots' },
    <>
      <DoneNotice c={c} />
      <p>A bot is an automated account. It has its own access tokens, and you are responsible for it.</p>
      <section class="card">
        <h2>Your bots</h2>
        <BotList bots={bots} apps={apps} />
      </section>
      <section class="card">
        <h2>Create a bot</h2>
        <form method="post" action="/bots" class="room">
          <RefusalNotice refusal={refusal} />
          <Field
            name="name"
            label="Name"
            hint="Letters, digits, and . _ - between them. It cannot be changed later."
            value={typed.name}
            faults={faults}
            autofocus={refusal !== undefined}
          />
          <Field
            name="display_name"
            label="Display name"
            hint="Shown to people. The name by default."
            value={typed.displayName}
            words
            faults={faults}
            optional
          />
          <button type="submit">Create the bot</button>
        </form>
      </section>
    </>,
    refusal?.status,
  );
}

function BotList({ bots, apps }: { bots: readonly UserRow[]; apps: readonly AppRow[] }) {
  if (bots.length === 0) return <p class="muted">You have no bots.</p>;
  return (
    <ul class="items">
      {bots.map((bot) => {
        const app = appOf(bot, apps);
        return (
          <li>
            <div>
              <h3>
                <a href={`/bots/${bot.user_id}`}>
                  <bdi>{bot.name}</bdi>
                </a>
              </h3>
              <Facts
                small
                facts={{
                  'Display name': <bdi>{bot.display_name}</bdi>,
                  'Bot of the app': app && <AppName app={app} />,
                  Created: <Time at={bot.created_at} />,
                }}
              />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
