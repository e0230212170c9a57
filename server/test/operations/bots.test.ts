import { beforeAll, expect, test } from 'bun:test';
import { pruneAccess } from '../../store/access/expired.ts';
import { startOfDay, usageDays } from '../../store/access/token-use.ts';
import { Client, type SessionClient } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { expectRefusal } from '../support/wire.ts';

onBothEngines('bots and their tokens', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let browser: SessionClient;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    browser = await inSession(server(), ada);
  });

  const newBot = async (name: string) => (await browser.ok('bots.create', { name })).bot;
  const newToken = async (user_id: number) => {
    const made = await browser.ok('bots.create_token', { user_id, name: 'its own', scopes: ['chats:read'] });
    return { ...made, client: new Client(server().url, made.access_token, user_id) };
  };

  test('a bot belongs to its owner, who makes and revokes its tokens', async () => {
    const bot = await newBot('greeter');
    expect(bot).toMatchObject({ kind: 'bot', owner_id: ada.userId, name: 'greeter', display_name: 'greeter' });
    expect((await browser.ok('bots.list', {})).bots.map(({ user_id }) => user_id)).toContain(bot.user_id);
    const { token, client } = await newToken(bot.user_id);
    expect((await client.ok('users.me', {})).user.name).toBe('greeter');
    expect((await browser.ok('bots.tokens', { user_id: bot.user_id })).tokens.map(({ name }) => name)).toEqual([
      'its own',
    ]);
    await browser.ok('bots.revoke_token', { user_id: bot.user_id, token_id: token.token_id });
    expect(await client.refused('users.me', {})).toBe('unauthorized');
    expect(await browser.refused('bots.revoke_token', { user_id: bot.user_id, token_id: token.token_id })).toBe(
      'not_found',
    );
  });

  test('a disabled bot has no access, and is not listed', async () => {
    const { user_id } = await newBot('retired');
    const { client } = await newToken(user_id);
    await browser.ok('bots.disable', { user_id });
    expect(await client.refused('users.me', {})).toBe('unauthorized');
    expect((await browser.ok('bots.list', {})).bots.map((bot) => bot.user_id)).not.toContain(user_id);
    expect(await browser.refused('bots.create_token', { user_id, name: 'x', scopes: ['files'] })).toBe('not_found');
  });

  test('nobody else sees or changes them, and no access token does', async () => {
    const { user_id } = await newBot('private');
    const { token_id } = (await newToken(user_id)).token;
    const other = await inSession(server(), bob);
    expect(await other.refused('bots.tokens', { user_id })).toBe('not_found');
    expect(await other.refused('bots.revoke_token', { user_id, token_id })).toBe('not_found');
    expect(await other.refused('bots.disable', { user_id })).toBe('not_found');
    expect((await other.ok('bots.list', {})).bots).toEqual([]);
    expect(await ada.refused('bots.list', {})).toBe('forbidden');
    expect(await ada.refused('bots.create_token', { user_id, name: 'x', scopes: ['files'] })).toBe('forbidden');
  });

  test('a name that is taken and scopes that no bot has are refused', async () => {
    const { user_id } = await newBot('plain');
    expect(await browser.refused('bots.create', { name: 'plain' })).toBe('conflict');
    const asked = await browser.call('bots.create_token', { user_id, name: 'x', scopes: ['admin' as never] });
    expectRefusal(asked, 'validation_failed');
  });

  test('the requests with tokens are counted by day, for their owner alone, and for 30 days', async () => {
    const { user_id } = await newBot('counted');
    const { token, client } = await newToken(user_id);
    for (let i = 0; i < 3; i++) await client.ok('users.me', {});
    const usageOf = async (by: Client) => (await by.ok('tokens.usage', {})).usage;
    const mine = await eventually('they are stored', async () => {
      const rows = (await usageOf(ada)).filter(({ token_id }) => token_id === token.token_id);
      return rows.reduce((sum, { requests }) => sum + requests, 0) === 3 ? rows : undefined;
    });
    for (const { day } of mine) expect(Date.parse(day)).toBeGreaterThanOrEqual(Date.now() - 2 * startOfDay(1));
    expect((await usageOf(bob)).map(({ token_id }) => token_id)).not.toContain(token.token_id);

    await server().engine.write((tx) => pruneAccess(tx, Date.now() + startOfDay(usageDays + 1), 1_000));
    expect((await usageOf(ada)).map(({ token_id }) => token_id)).not.toContain(token.token_id);
  });
});
