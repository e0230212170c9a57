import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import { requireWithin } from '../domain/quotas.ts';
import { findToken, lockTokensOf } from '../store/access/tokens.ts';
import { findUser, insertUser, listBots, type UserRow } from '../store/access/users.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import type { Random } from './access-token.ts';
import { record, type UserActor } from './audit.ts';
import { makeToken, type NewToken, requireRoomForToken, withdraw } from './personal-token.ts';
import type { AccessServices } from './services.ts';
import { createUser, requireOwnLook } from './users.ts';

export interface BotRequest {
  readonly name: string;
  readonly displayName: string;
}

export function createBot(services: AccessServices, owner: UserActor, request: BotRequest): Promise<UserRow> {
  return services.engine.write(async (tx) => {
    const at = services.now();
    const { userId: ownerId } = owner;
    await requireQuota(tx, services, ownerId);
    const { name, displayName } = request;
    const bot = await createUser(tx, { name, displayName, isAdmin: false, passwordHash: null, ownerId, at });
    await record(tx, at, owner, 'bot_created', { bot_id: bot.user_id, name });
    return bot;
  });
}

/** Throws if the owner has as many bots as allowed. Another bot of the owner waits for the end of the transaction. */
async function requireQuota(tx: Tx, { quotas }: AccessServices, ownerId: UserId): Promise<void> {
  await tx.lockKeys([`bots of ${ownerId}`]);
  requireWithin(quotas, 'bots', (await listBots(tx, ownerId)).length + 1);
}

/** Names that are tried in turn. Bots that ended keep theirs, so a person could make a search for the next one as long as they like. */
const maxCounted = 10;

function nameEnd(count: number, random: Random): string {
  if (count > maxCounted) return `-${Buffer.from(random(4)).toString('hex')}`;
  return count === 1 ? '' : String(count);
}

/** Creates the bot of an app or of an incoming webhook, with a free name that is made from the title. */
export async function insertBot(
  tx: Tx,
  services: AccessServices,
  ownerId: UserId,
  title: string,
  at: number,
): Promise<UserRow> {
  await requireQuota(tx, services, ownerId);
  await requireOwnLook(tx, title, ownerId, 'name');
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['app'];
  const stem = words.join('-').slice(0, 27).replace(/-$/, '');
  for (let count = 1; ; count++) {
    const name = `${stem}-bot${nameEnd(count, services.random)}`;
    const bot = await insertUser(tx, { name, displayName: title, isAdmin: false, passwordHash: null, ownerId, at });
    if (bot) return bot;
  }
}

/** Returns a bot of the owner that is not disabled. Throws `not_found` for any other. */
export async function accessBot(db: Db, ownerId: UserId, botId: UserId): Promise<UserRow> {
  const bot = await findUser(db, botId);
  if (bot?.owner_id !== ownerId || bot.disabled_at !== null) {
    throw new ParleyError('not_found', 'You have no such bot.');
  }
  return bot;
}

/** Returns a new token of a bot, with its secret, which is not stored. */
export function createBotToken(
  services: AccessServices,
  owner: UserActor,
  botId: UserId,
  /** `expiresIn` is in seconds. Without it the token never expires. */
  {
    expiresIn,
    ...request
  }: { readonly name: string; readonly scopes: readonly Scope[]; readonly expiresIn?: number | undefined },
): Promise<NewToken> {
  if (request.scopes.includes('admin')) {
    throw new ParleyError('forbidden', 'A bot is no administrator, so the scope admin would do nothing.');
  }
  return services.engine.write(async (tx) => {
    const at = services.now();
    await lockTokensOf(tx, botId);
    const bot = await accessBot(tx, owner.userId, botId);
    await requireRoomForToken(tx, botId, `${bot.name} has`, at);
    const expiresAt = expiresIn === undefined ? null : at + expiresIn * 1_000;
    return makeToken(tx, services.random, owner, { userId: botId, ...request, expiresAt, at });
  });
}

export async function revokeBotToken(
  services: AccessServices,
  owner: UserActor,
  botId: UserId,
  tokenId: TokenId,
): Promise<void> {
  await services.engine.write(async (tx) => {
    await accessBot(tx, owner.userId, botId);
    const token = await findToken(tx, botId, tokenId);
    if (!token) throw new ParleyError('not_found', 'The bot has no such access token.');
    await withdraw(tx, owner, token, services.now());
  });
  await services.ended(botId);
}
