import { ParleyError, password as passwordRule, type Scope, type TokenId, userName } from '@parley/contract';
import { findAnyonesToken, listTokens, lockTokensOf, type TokenRow } from '../store/access/tokens.ts';
import { findUserByName, type UserRow } from '../store/access/users.ts';
import type { Db } from '../store/engine/engine.ts';
import { scopesFor } from './access-token.ts';
import { operator, record } from './audit.ts';
import { replacePassword } from './password-change.ts';
import { makeToken, type NewToken, withdraw } from './personal-token.ts';
import type { AccessServices } from './services.ts';
import { createUser, lookAlikesOf } from './users.ts';

/** For the commands of the operator, which change the database beside a running server. Each is one short write. */
export type Tools = Omit<AccessServices, 'ended' | 'quotas'>;

export interface UserRequest {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly isAdmin: boolean;
  readonly password?: string | undefined;
}

export async function addUser(tools: Tools, request: UserRequest): Promise<UserRow> {
  const name = check(userName, request.name, 'The name');
  const { displayName = name, isAdmin, password } = request;
  const passwordHash = password === undefined ? null : await hashPassword(tools, password);
  const alike = isAdmin ? await lookAlikesOf(tools.engine, { name, display_name: displayName }) : [];
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const user = await createUser(tx, { name, displayName, isAdmin, passwordHash, at }, { byOperator: true });
    const details = { user_id: user.user_id, name, is_admin: isAdmin, ...(alike.length > 0 && { look_alikes: alike }) };
    await record(tx, at, operator, 'user_created', details);
    return user;
  });
}

export interface BotRequest extends Pick<UserRequest, 'name' | 'displayName'> {
  readonly ownerName: string;
}

/** Creates a bot. The limit of bots for each person does not bind the operator. */
export function addBot(tools: Tools, request: BotRequest): Promise<UserRow> {
  const name = check(userName, request.name, 'The name');
  const { displayName = name, ownerName } = request;
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const { user_id: ownerId } = await requirePerson(tx, ownerName);
    const newBot = { name, displayName, isAdmin: false, passwordHash: null, ownerId, at };
    const bot = await createUser(tx, newBot, { byOperator: true });
    await record(tx, at, operator, 'bot_created', { bot_id: bot.user_id, name, owner_id: ownerId });
    return bot;
  });
}

/** Sets a password. Ends all sessions, access tokens and app authorizations of the user, and apps registered by token. */
export async function changePasswordOf(
  tools: Tools,
  request: { readonly userName: string; readonly password: string },
): Promise<UserRow> {
  const passwordHash = await hashPassword(tools, request.password);
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const user = await requirePerson(tx, request.userName);
    await replacePassword(tx, user.user_id, passwordHash, at, operator);
    await record(tx, at, operator, 'password_changed', { user_id: user.user_id });
    return user;
  });
}

async function requireEnabled(db: Db, name: string): Promise<UserRow> {
  const user = await findUserByName(db, name);
  if (user?.disabled_at === null) return user;
  throw new ParleyError('not_found', `There is no user named ${name}, or the user is disabled.`);
}

async function requirePerson(db: Db, name: string): Promise<UserRow> {
  const user = await requireEnabled(db, name);
  if (user.kind === 'bot') throw new ParleyError('forbidden', `${user.name} is a bot, and this is for people.`);
  return user;
}

export interface TokenRequest {
  readonly userName: string;
  readonly name: string;
  /** Defaults to all that the user may have. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Returns a new token for a user, with its secret. */
export async function issueToken(tools: Tools, request: TokenRequest): Promise<NewToken> {
  const user = await requireEnabled(tools.engine, request.userName);
  const { name, scopes = scopesFor(user) } = request;
  if (scopes.includes('admin') && !user.is_admin) {
    throw new ParleyError('forbidden', `${user.name} is not an administrator, so the scope admin would do nothing.`);
  }
  return tools.engine.write(async (tx) => {
    await lockTokensOf(tx, user.user_id);
    return makeToken(tx, tools.random, operator, { userId: user.user_id, name, scopes, at: tools.now() });
  });
}

/** Returns the tokens of a user that are neither revoked nor expired. */
export async function listTokensOf(tools: Tools, userName: string): Promise<TokenRow[]> {
  const user = await findUserByName(tools.engine, userName);
  if (!user) throw new ParleyError('not_found', `There is no user named ${userName}.`);
  return listTokens(tools.engine, user.user_id, tools.now());
}

/** Revokes a token of any user. A running server notices once its cache of tokens has expired. */
export function withdrawToken(tools: Tools, tokenId: TokenId): Promise<TokenRow> {
  return tools.engine.write(async (tx) => {
    const token = await findAnyonesToken(tx, tokenId);
    if (!token) throw new ParleyError('not_found', `There is no access token ${tokenId}, or it is revoked already.`);
    await withdraw(tx, operator, token, tools.now());
    return token;
  });
}

const hashPassword = (tools: Tools, password: string): Promise<string> =>
  tools.passwords.hash(check(passwordRule, password, 'The password'));

function check(
  schema: { safeParse(value: string): { success: boolean; error?: { issues: readonly { message: string }[] } } },
  value: string,
  what: string,
): string {
  const result = schema.safeParse(value);
  if (result.success) return value;
  throw new ParleyError('validation_failed', `${what} ${result.error?.issues[0]?.message ?? 'is not valid'}.`);
}
