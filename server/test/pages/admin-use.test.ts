import { beforeAll, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { createBot } from '../../auth/bots.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';
import { expectSound, signedIn, type Visitor } from '../support/visitor.ts';

onAnyEngine('the use by person', (engine) => {
  const server = serverFor(engine, {}, { sweepMs: 50 });
  let people: Record<'ada' | 'bob' | 'cleo', Client>;
  let visitor: Visitor;
  beforeAll(async () => {
    people = { ada: await server().user('ada'), bob: await server().user('bob'), cleo: await server().user('cleo') };
    visitor = await signedIn(server(), await server().user('root', { admin: true }));
  });

  /** The cells of each row. */
  async function table(path: string): Promise<string[][]> {
    const page = await visitor.get(path);
    expect(page.status).toBe(200);
    expectSound(page);
    const rows = page.html.match(/<tr>[\s\S]*?<\/tr>/g) ?? [];
    return rows
      .slice(1)
      .map((row) => [...row.matchAll(/<div>([\s\S]*?)<\/div>/g)].map(([, cell = '']) => textOf(cell)));
  }
  const textOf = (html: string) => html.replace(/<[^>]*>/g, '').trim();

  test('counts bots with their owners, and puts the largest first', async () => {
    const { ada, bob, cleo } = people;
    const group = (by: Client) => by.ok('messages.create_group', { name: 'g', participants: [] });
    const { chat_id } = (await group(ada)).group;
    await group(bob);
    await group(bob);
    await cleo.ok('webhooks.register', { url: 'http://127.0.0.1:9/', events: ['*'], secret: 'a secret' });
    const actor = { userId: bob.userId as UserId, appId: 0, address: null };
    const made = await createBot(accessOf(server()), actor, { name: 'bobs-bot', displayName: 'Bot' });
    const bot = new Client(server().url, await server().token('bobs-bot'), made.user_id);
    await bot.ok('webhooks.register', { url: 'http://127.0.0.1:9/', events: ['*'], secret: 'a secret' });
    await bot.ok('webhooks.register', { url: 'http://127.0.0.1:9/', events: ['*'], secret: 'a secret' });
    await bot.ok('messages.create_group', { name: 'by the bot', participants: [] });
    const file = new File([new Uint8Array(1_536)], 'a.bin');
    await ada.ok('messages.send_message', { chat_id, content: 'one', file });
    await ada.ok('messages.send_message', { chat_id, content: 'two' });

    const adas = ['ada', '1.5 KiB', '2', '1', '0', '0'];
    const bobs = ['bob', '0 bytes', '0', '3', '2', '1'];
    const cleos = ['cleo', '0 bytes', '0', '0', '1', '0'];
    const roots = ['root', '0 bytes', '0', '0', '0', '0'];
    await eventually('the messages are counted', async () => (await table('/admin/use'))[0]?.[2] === '2' || undefined);
    expect(await table('/admin/use')).toEqual([adas, bobs, cleos, roots]);
    expect(await table('/admin/use?by=messages')).toEqual([adas, bobs, cleos, roots]);
    expect(await table('/admin/use?by=chats')).toEqual([bobs, adas, cleos, roots]);
    expect(await table('/admin/use?by=webhooks')).toEqual([bobs, cleos, adas, roots]);
    expect(await table('/admin/use?by=bots')).toEqual([bobs, adas, cleos, roots]);
    // Anything else is the default.
    for (const by of ['name', 'user_id;', '__proto__', '']) {
      expect(await table(`/admin/use?by=${encodeURIComponent(by)}`)).toEqual([adas, bobs, cleos, roots]);
    }
    const { main } = await visitor.get('/admin/use');
    expect(main).toContain(
      'settings of the server: Files 10.0 GiB Messages today 50,000 Chats created 10,000 Webhooks 100 Bots 100',
    );
    expect((await visitor.get('/admin/users')).html).toContain('href="/admin/use"');
    expect((await visitor.get(`/admin/users/${bob.userId}`)).main).toContain('Webhooks 2 of 100');
  });

  test('shows fifty people on a page', async () => {
    for (let i = 0; i < 60; i++) await server().user(`extra-${i}`);
    const first = await table('/admin/use?by=chats');
    expect(first.map(([name]) => name).slice(0, 2)).toEqual(['bob', 'ada']);
    const { html } = await visitor.get('/admin/use?by=chats');
    expect(html).toContain('<a href="/admin/use?by=chats&amp;page=2">Next page</a>');
    const second = await table('/admin/use?by=chats&page=2');
    expect(new Set([...first, ...second].map(([name]) => name)).size).toBe(64);
    expect([first.length, second.length]).toEqual([50, 14]);
    for (const page of ['3', '9007199254740991']) {
      const { main } = await visitor.get(`/admin/use?page=${page}`);
      expect(main).toContain('There are no more people.');
      expect(main).toContain('First page');
    }
    for (const page of ['0', '-1', 'x']) expect(await table(`/admin/use?page=${page}&by=chats`)).toEqual(first);
  });
});
