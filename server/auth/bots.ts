import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import { findToken, lockTokensOf, revokeToken } from '../store/access/tokens.ts';
import { findUser, insertUser, listBots, type UserRow } from '../store/access/users.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { type Actor, record } from './audit.ts';
import { makeToken, type NewToken, requireRoomForToken } from './personal-token.ts';
import type { AccessServices } from './services.ts';

/** Bots of one person at most. */
const mostBots = 100;

type Owner = Actor & { readonly userId: UserId };

export interface BotRequest {
  readonly name: string;
  readonly displayName: string;
}

export function createBot(services: AccessServices, owner: Owner, request: BotRequest): Promise<UserRow> {
  return services.engine.write(async (tx) => {
    const at = services.now();
    await tx.lockKeys([`bots of ${owner.userId}`]);
    await requireRoom(tx, owner.userId);
    const { name, displayName } = request;
    const ownerId = owner.userId;
    const bot = await insertUser(tx, { name, displayName, isAdmin: false, passwordHash: null, ownerId, at });
    if (!bot) throw new ParleyError('conflict', `The name ${name} is taken.`, [{ field: 'name', message: 'is taken' }]);
    await record(tx, at, owner, 'bot_created', { bot_id: bot.user_id, name });
    return bot;
  });
}

async function requireRoom(tx: Tx, ownerId: UserId): Promise<void> {
  if ((await listBots(tx, ownerId)).length >= mostBots) {
    throw new ParleyError('conflict', `You have ${mostBots} bots. Disable one first.`);
  }
}

/** A bot for something that has a title, under a name made of it that is not taken. */
export async function insertBot(tx: Tx, ownerId: UserId, title: string, at: number): Promise<UserRow> {
  await requireRoom(tx, ownerId);
  const stem =
    title
      .normalize('NFKD')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .toLowerCase()
      .slice(0, 30)
      .replace(/-+$/, '') || 'app';
  for (let count = 1; ; count++) {
    const name = count === 1 ? `${stem}-bot` : `${stem}-bot${count}`;
    const bot = await insertUser(tx, { name, displayName: title, isAdmin: false, passwordHash: null, ownerId, at });
    if (bot) return bot;
  }
}

/** The one door from an id to somebody's bot. */
export async function accessBot(db: Db, ownerId: UserId, botId: UserId): Promise<UserRow> {
  const bot = await findUser(db, botId);
  if (bot?.owner_id !== ownerId || bot.disabled_at !== null) {
    throw new ParleyError('not_found', 'You have no such bot.');
  }
  return bot;
}

/** A new token of a bot. It can be read this once. */
export function createBotToken(
  services: AccessServices,
  owner: Owner,
  botId: UserId,
  request: { readonly name: string; readonly scopes: readonly Scope[] },
): Promise<NewToken> {
  if (request.scopes.includes('admin')) {
    throw new ParleyError('forbidden', 'A bot is no administrator, so the scope admin would do nothing.');
  }
  return services.engine.write(async (tx) => {
    const at = services.now();
    await lockTokensOf(tx, botId);
    const bot = await accessBot(tx, owner.userId, botId);
    await requireRoomForToken(tx, botId, `${bot.name} has`, at);
    return makeToken(tx, services.random, owner, { userId: botId, ...request, at });
  });
}

export async function revokeBotToken(
  services: AccessServices,
  owner: Owner,
  botId: UserId,
  tokenId: TokenId,
): Promise<void> {
  await services.engine.write(async (tx) => {
    const at = services.now();
    await accessBot(tx, owner.userId, botId);
    const token = await findToken(tx, botId, tokenId);
    if (!token) throw new ParleyError('not_found', 'The bot has no such access token.');
    await revokeToken(tx, token, at);
    await endWithoutAccess(tx, at, botId);
    await record(tx, at, owner, 'token_revoked', { token_id: tokenId, name: token.name, user_id: botId });
  });
  await services.ended(botId);
}
