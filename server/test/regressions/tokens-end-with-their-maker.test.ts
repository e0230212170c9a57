import { expect, test } from 'bun:test';
import { withdrawToken } from '../../auth/administer.ts';
import { Client } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { eventually, users } from '../support/world.ts';

/** Whoever stole a token could otherwise keep what was made with it. */
onBothEngines('a token that is revoked', (engine) => {
  const server = serverFor(engine);

  test('takes those along that it made, and those that they made, at once, and no others', async () => {
    const { ada, maker, family, spare } = await generations(server());
    await ada.ok('tokens.revoke', { token_id: maker.id });
    for (const token of family) expect(await token.refused('users.me', {})).toBe('unauthorized');
    expect((await spare.ok('users.me', {})).user.user_id).toBe(ada.userId);
    const { tokens } = await ada.ok('tokens.list', {});
    expect(tokens.map((t) => t.name).sort()).toEqual(['first', 'spare']);
  });

  test('leaves the one that made it', async () => {
    const { ada, family } = await generations(server());
    const [maker, child, grandchild] = family;
    await maker?.ok('tokens.revoke', { token_id: child?.tokenId ?? 0 });
    expect(await child?.refused('users.me', {})).toBe('unauthorized');
    expect(await grandchild?.refused('users.me', {})).toBe('unauthorized');
    expect((await maker?.ok('users.me', {}))?.user.user_id).toBe(ada.userId);
  });

  test('does so too where an operator revokes it beside the server', async () => {
    const { maker, family, spare } = await generations(server());
    await withdrawToken({ ...tools, engine: server().engine }, maker.id);
    for (const token of family) {
      await eventually('the token has ended', async () =>
        (await token.call('users.me', {})).status === 401 ? true : undefined,
      );
    }
    await spare.ok('users.me', {});
  });
});

const tools = {
  now: Date.now,
  random: (bytes: number) => new Uint8Array(bytes),
  hashPassword: async (password: string) => password,
};

class Holder extends Client {
  readonly tokenId: number;

  constructor(url: string, token: string, userId: number, tokenId: number) {
    super(url, token, userId);
    this.tokenId = tokenId;
  }
}

/** Makes a token with another, and uses it, so that the server knows it. */
async function made(by: Client, name: string): Promise<{ holder: Holder; id: Parameters<typeof withdrawToken>[1] }> {
  const { token, access_token } = await by.ok('tokens.create', { name });
  const holder = new Holder(by.url, access_token, by.userId, token.token_id);
  await holder.ok('users.me', {});
  return { holder, id: token.token_id };
}

/** A user's first token made two, and one of them has a child and a grandchild. */
async function generations(server: TestServer) {
  const { ada } = await users(server, 'ada');
  const maker = await made(ada, 'maker');
  const spare = await made(ada, 'spare');
  const child = await made(maker.holder, 'child');
  const grandchild = await made(child.holder, 'grandchild');
  return { ada, maker, family: [maker.holder, child.holder, grandchild.holder], spare: spare.holder };
}
