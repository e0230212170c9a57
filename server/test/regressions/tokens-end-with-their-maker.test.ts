import { expect, test } from 'bun:test';
import { withdrawToken } from '../../auth/administer.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

/** Makes a token with another, and uses it, so that the server knows it. */
async function make(by: Client, name: string) {
  const { token, access_token } = await by.ok('tokens.create', { name });
  const holder = new Client(by.url, access_token, by.userId);
  await holder.ok('users.me', {});
  return { holder, token_id: token.token_id };
}

// Otherwise a thief could keep the tokens that were created with a stolen one.
onAnyEngine('a token that is revoked', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, {}, { now: () => now });

  /** The first token of a user made two, and one of them has a child and a grandchild. */
  const family = async () => {
    const { ada } = await users(server(), 'ada');
    const maker = await make(ada, 'maker');
    const spare = await make(ada, 'spare');
    const child = await make(maker.holder, 'child');
    const grandchild = await make(child.holder, 'grandchild');
    return { ada, maker, spare, child, grandchild };
  };

  test('takes those along that it made, and those that they made, at once, and no others', async () => {
    const { ada, maker, spare, child, grandchild } = await family();
    await ada.ok('tokens.revoke', { token_id: maker.token_id });
    for (const { holder } of [maker, child, grandchild]) {
      expect(await holder.refused('users.me', {})).toBe('unauthorized');
    }
    await spare.holder.ok('users.me', {});
    const { tokens } = await ada.ok('tokens.list', {});
    expect(tokens.map((t) => t.name).sort()).toEqual(['first', 'spare']);
  });

  test('leaves the one that made it', async () => {
    const { maker, child, grandchild } = await family();
    await maker.holder.ok('tokens.revoke', { token_id: child.token_id });
    expect(await child.holder.refused('users.me', {})).toBe('unauthorized');
    expect(await grandchild.holder.refused('users.me', {})).toBe('unauthorized');
    await maker.holder.ok('users.me', {});
  });

  test('does so too where an operator revokes it beside the server', async () => {
    const { maker, spare, child, grandchild } = await family();
    await withdrawToken(server().tools, maker.token_id);
    // For so long a server takes it that a token which was good still is.
    now += 2_000;
    for (const { holder } of [maker, child, grandchild]) {
      expect(await holder.refused('users.me', {})).toBe('unauthorized');
    }
    await spare.holder.ok('users.me', {});
  });
});
