import { beforeAll, expect, test } from 'bun:test';
import { goodPassword } from '../support/browser-like.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

onAnyEngine('the service and its invitations', (engine) => {
  const server = serverFor(engine);
  let [root, ada]: Client[] = [];
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ({ ada } = await users(server(), 'ada'));
  });
  const admin = () => root as Client;
  const member = () => ada as Client;
  const signUp = async (name: string) => {
    const { url } = await admin().ok('invitations.create', { note: `For ${name}` });
    const visitor = new Visitor(server().url);
    const page = await visitor.get(new URL(url).pathname);
    const form = { name, display_name: `Dr ${name}`, password: goodPassword, again: goodPassword };
    const response = await visitor.post(new URL(url).pathname, form);
    return { page: page.html, response, url };
  };
  const participants = async (chat_id: number) =>
    (await admin().ok('chats.participants', { chat_id })).participants.map(({ name }) => name.replace(/^ada.*/, 'ada'));

  test('has a name that administrators change and everybody reads', async () => {
    expect((await member().ok('service.get', {})).service).toEqual({ name: 'Parley', welcome_chat_id: null });
    const { service } = await admin().ok('service.update', { name: 'Lovelace Ltd' });
    expect(service).toEqual({ name: 'Lovelace Ltd', welcome_chat_id: null });
    expect((await member().ok('service.get', {})).service).toEqual(service);
    expect(await member().refused('service.update', { name: 'Mine' })).toBe('insufficient_scope');
    expect(await admin().refused('service.update', { name: '' })).toBe('validation_failed');
    expect(await admin().refused('service.update', { name: 'two\nlines' })).toBe('validation_failed');
  });

  test('new people join the welcome chat, and everybody in it is told', async () => {
    const { group } = await admin().ok('messages.create_group', { name: 'Everyone', participants: [member().userId] });
    const { chat_id } = group;
    await admin().ok('service.update', { welcome_chat_id: chat_id });
    await signUp('grace');
    await admin().ok('users.create', { name: 'alan' });
    expect(await participants(chat_id)).toEqual(['root', 'ada', 'grace', 'alan']);
    const { events } = await member().ok('events.list', { events: ['user_joined'] });
    const joined = events.filter(({ data }) => data.chat_id === chat_id);
    expect(joined.map(({ data }) => data.user_id === data.actor_id)).toEqual([true, true]);
    await admin().ok('service.update', { welcome_chat_id: null });
    await admin().ok('users.create', { name: 'late' });
    expect(await participants(chat_id)).not.toContain('late');
  });

  test('only a group or channel of which one manages the participants can be the welcome chat', async () => {
    const { chat } = await admin().ok('messages.create_direct', { user_id: member().userId });
    const { group } = await member().ok('messages.create_group', { name: 'Theirs' });
    const { channel } = await member().ok('messages.create_channel', { name: 'News', visibility: 'public' });
    const codeOf = (welcome_chat_id: number) => admin().refused('service.update', { welcome_chat_id });
    expect(await codeOf(chat.chat_id)).toBe('forbidden');
    expect(await codeOf(channel.chat_id)).toBe('forbidden');
    expect(await codeOf(group.chat_id)).toBe('not_found');
    expect(await codeOf(999_999)).toBe('not_found');
  });

  test('people who sign up together all join, once each', async () => {
    const { group } = await admin().ok('messages.create_group', { name: 'Many' });
    await admin().ok('service.update', { welcome_chat_id: group.chat_id });
    const names = Array.from({ length: 8 }, (_, i) => `many${i}`);
    await Promise.all(names.map((name) => admin().ok('users.create', { name })));
    expect((await participants(group.chat_id)).sort()).toEqual([...names, 'root'].sort());
    await admin().ok('service.update', { welcome_chat_id: null });
  });

  test('an invitation says who invites to what, works once, is listed, and can be withdrawn', async () => {
    const { page, response, url } = await signUp('mary');
    expect(page).toContain('Lovelace Ltd');
    expect(page).toContain('<bdi>root</bdi>');
    expect(response.status).toBe(303);
    const again = await new Visitor(server().url).get(new URL(url).pathname);
    expect(again.status).toBe(404);
    const created = await admin().ok('invitations.create', { note: 'For Joan' });
    expect(Object.keys(created.invitation)).not.toContain('url');
    const { invitations } = await admin().ok('invitations.list', {});
    expect(invitations[0]).toEqual(created.invitation);
    expect(JSON.stringify(invitations)).not.toContain(new URL(created.url).pathname.split('/').at(-1) as string);
    const { invitation_id } = created.invitation;
    await admin().ok('invitations.withdraw', { invitation_id });
    expect(await admin().refused('invitations.withdraw', { invitation_id })).toBe('not_found');
    expect((await new Visitor(server().url).get(new URL(created.url).pathname)).status).toBe(404);
  });
});

onAnyEngine('a service at which nobody can sign up', (engine) => {
  const server = serverFor(engine, { PARLEY_SIGN_UP: 'closed' });

  test('gives no invitations', async () => {
    const root = await server().user('root', { admin: true });
    expect(await root.refused('invitations.create', {})).toBe('conflict');
  });
});
