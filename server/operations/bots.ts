import { accessBot, createBot, createBotToken, revokeBotToken } from '../auth/bots.ts';
import { listTokens } from '../store/access/tokens.ts';
import { listBots, type UserRow } from '../store/access/users.ts';
import { actorOf, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';
import { disableBot } from './users.ts';

export function botHandlers(services: Services) {
  const shown = (row: UserRow) => present.user(row, services.avatarUrl);
  return {
    'bots.list': async ({ caller }) => ({ bots: (await listBots(services.engine, caller.userId)).map(shown) }),

    'bots.create': async (call) => {
      const { name, display_name: displayName = name } = call.input;
      return { bot: shown(await createBot(services, actorOf(call), { name, displayName })) };
    },

    'bots.disable': async (call) => {
      const { user_id } = call.input;
      await disableBot(services, actorOf(call), user_id);
      return { user_id };
    },

    'bots.tokens': async ({ caller, input }) => {
      const bot = await accessBot(services.engine, caller.userId, input.user_id);
      return { tokens: (await listTokens(services.engine, bot.user_id, services.now())).map(present.token) };
    },

    'bots.create_token': async (call) => {
      const { user_id, name, scopes, expires_in: expiresIn } = call.input;
      const made = await createBotToken(services, actorOf(call), user_id, { name, scopes, expiresIn });
      return { token: present.token(made.token), access_token: made.accessToken };
    },

    'bots.revoke_token': async (call) => {
      const { user_id, token_id } = call.input;
      await revokeBotToken(services, actorOf(call), user_id, token_id);
      return { token_id };
    },
  } satisfies Partial<Handlers>;
}
