import { ParleyError, password as passwordRule, type Scope, type TokenId, userName } from '@parley/contract';
import { findAnyonesToken, listTokens, lockTokensOf, revokeToken, type TokenRow } from '../store/access/tokens.ts';
import { findUserByName, insertUser, type UserRow } from '../store/access/users.ts';
import type { Db, Engine } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { scopesFor } from './access-token.ts';
import { operator, record } from './audit.ts';
import { replacePassword } from './password-change.ts';
import type { Passwords } from './passwords.ts';
import { makeToken, type NewToken } from './personal-token.ts';

/** What an operator does straight in the database, beside a running server. Each is one short write. */
export interface Tools {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly passwords: Passwords;
}

export interface UserRequest {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly isAdmin: boolean;
  readonly password?: string | undefined;
}

export async function addUser(tools: Tools, request: UserRequest): Promise<UserRow> {
  const name = check(userName, request.name, 'The name');
  const password = request.password === undefined ? undefined : check(passwordRule, request.password, 'The password');
  const passwordHash = password === undefined ? null : await tools.passwords.hash(password);
  const displayName = request.displayName ?? name;
  const { isAdmin } = request;
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const user = await insertUser(tx, { name, displayName, isAdmin, passwordHash, at });
    if (!user) throw new ParleyError('conflict', `The name ${name} is taken.`);
    await record(tx, at, operator, 'user_created', { user_id: user.user_id, name, is_admin: isAdmin });
    return user;
  });
}

export interface BotRequest {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly ownerName: string;
}

/** How many bots one person may have is for people to mind, not for the operator. */
export function addBot(tools: Tools, request: BotRequest): Promise<UserRow> {
  const name = check(userName, request.name, 'The name');
  const displayName = request.displayName ?? name;
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const { user_id: ownerId } = await requirePerson(tx, request.ownerName);
    const bot = await insertUser(tx, { name, displayName, isAdmin: false, passwordHash: null, ownerId, at });
    if (!bot) throw new ParleyError('conflict', `The name ${name} is taken.`);
    await record(tx, at, operator, 'bot_created', { bot_id: bot.user_id, name, owner_id: ownerId });
    return bot;
  });
}

/** Signs the person out of every browser. What apps and access tokens may do stays. */
export async function changePasswordOf(
  tools: Tools,
  request: { readonly userName: string; readonly password: string },
): Promise<UserRow> {
  const passwordHash = await tools.passwords.hash(check(passwordRule, request.password, 'The password'));
  return tools.engine.write(async (tx) => {
    const at = tools.now();
    const user = await requirePerson(tx, request.userName);
    await replacePassword(tx, user.user_id, passwordHash, at);
    await record(tx, at, operator, 'password_changed', { user_id: user.user_id });
    return user;
  });
}

async function requirePerson(db: Db, name: string): Promise<UserRow> {
  const user = await findUserByName(db, name);
  if (!user || user.disabled_at !== null) {
    throw new ParleyError('not_found', `There is no user named ${name}, or the user is disabled.`);
  }
  if (user.kind === 'bot') throw new ParleyError('forbidden', `${user.name} is a bot, and this is for people.`);
  return user;
}

export interface TokenRequest {
  readonly userName: string;
  readonly name: string;
  /** All that the user may have, where none are named. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** A new token for a user; it can be read this once. */
export async function issueToken(tools: Tools, request: TokenRequest): Promise<NewToken> {
  const user = await findUserByName(tools.engine, request.userName);
  if (!user || user.disabled_at !== null) {
    throw new ParleyError('not_found', `There is no user named ${request.userName}, or the user is disabled.`);
  }
  const scopes = request.scopes ?? scopesFor(user);
  if (scopes.includes('admin') && !user.is_admin) {
    throw new ParleyError('forbidden', `${user.name} is not an administrator, so the scope admin would do nothing.`);
  }
  return tools.engine.write(async (tx) => {
    await lockTokensOf(tx, user.user_id);
    const asked = { userId: user.user_id, name: request.name, scopes, at: tools.now() };
    return makeToken(tx, tools.random, operator, asked);
  });
}

/** The tokens of a user that are neither revoked nor expired. */
export async function listTokensOf(tools: Tools, userName: string): Promise<TokenRow[]> {
  const user = await findUserByName(tools.engine, userName);
  if (!user) throw new ParleyError('not_found', `There is no user named ${userName}.`);
  return listTokens(tools.engine, user.user_id, tools.now());
}

/** Revokes a token, whoever it belongs to. A running server notices within the time that it trusts what it read. */
export function withdrawToken(tools: Tools, tokenId: TokenId): Promise<TokenRow> {
  return tools.engine.write(async (tx) => {
    const token = await findAnyonesToken(tx, tokenId);
    if (!token) throw new ParleyError('not_found', `There is no access token ${tokenId}, or it is revoked already.`);
    const at = tools.now();
    await revokeToken(tx, token, at);
    await endWithoutAccess(tx, at, token.user_id);
    await record(tx, at, operator, 'token_revoked', { token_id: tokenId, name: token.name, user_id: token.user_id });
    return token;
  });
}

function check(
  schema: { safeParse(value: string): { success: boolean; error?: { issues: readonly { message: string }[] } } },
  value: string,
  what: string,
): string {
  const result = schema.safeParse(value);
  if (result.success) return value;
  throw new ParleyError('validation_failed', `${what} ${result.error?.issues[0]?.message ?? 'is not valid'}.`);
}
