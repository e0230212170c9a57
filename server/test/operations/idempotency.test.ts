import { expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { serverFor, startServer } from '../support/server.ts';

const key = (name: string) => ({ 'idempotency-key': name });

onBothEngines('an Idempotency-Key', (engine) => {
  const server = serverFor(engine);

  async function someone() {
    const user = await server().user(`user${Math.random().toString(36).slice(2)}`);
    const { group } = await user.ok('messages.create_group', { name: 'Notes', participants: [] });
    const messages = async () => (await user.ok('messages.get_messages', { chat_id: group.chat_id })).messages;
    return { user, chat_id: group.chat_id, messages };
  }

  test('makes 50 concurrent equal sends one message, and one event', async () => {
    const { user, chat_id, messages } = await someone();
    const sends = Array.from({ length: 50 }, () =>
      user.call('messages.send_message', { chat_id, content: 'once' }, key('k')),
    );
    const answers = await Promise.all(sends);
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((a) => JSON.stringify(a.body)))).toHaveLength(1);
    expect(await messages()).toHaveLength(1);
    const { events } = await user.ok('events.list', { chat_id, events: ['new_message'] });
    expect(events).toHaveLength(1);
  });

  test('marks a response that is returned again, and no other', async () => {
    const { user, chat_id } = await someone();
    const calls = [
      (by: string) => user.call('messages.send_message', { chat_id, content: 'once' }, key(by)),
      (by: string) => user.call('messages.create_group', { name: 'Once', participants: [] }, key(by)),
      (by: string) =>
        user.call('webhooks.register', { url: 'http://127.0.0.1:9/', events: ['*'], secret: 'x'.repeat(16) }, key(by)),
    ];
    const markOf = async (answer: Promise<{ headers: Headers }>) => (await answer).headers.get('idempotency-replayed');
    for (const call of calls) {
      expect(await markOf(call('first'))).toBeNull();
      expect(await markOf(call('first'))).toBe('true');
      expect(await markOf(call('second'))).toBeNull();
    }
    const sends = Array.from({ length: 20 }, () => calls[0]?.('together') ?? Promise.reject());
    const marks = await Promise.all(sends.map(markOf));
    expect(marks.filter((mark) => mark === null)).toHaveLength(1);
    const other = await user.call('messages.send_message', { chat_id, content: 'other' }, key('first'));
    expect([other.error?.code, other.headers.get('idempotency-replayed')]).toEqual(['idempotency_conflict', null]);
    const origin = { origin: 'https://shop.example' };
    const { headers } = await user.call(
      'messages.send_message',
      { chat_id, content: 'once' },
      { ...key('first'), ...origin },
    );
    expect(headers.get('access-control-expose-headers')).toContain('Idempotency-Replayed');
  });

  test('refuses another input under the same key, also when both arrive together', async () => {
    const { user, chat_id, messages } = await someone();
    const contents = ['one', 'two', 'one', 'three'];
    const answers = await Promise.all(
      contents.map((content) => user.call('messages.send_message', { chat_id, content }, key('k'))),
    );
    const [winner] = await messages();
    expect(await messages()).toHaveLength(1);
    for (const [i, answer] of answers.entries()) {
      if (contents[i] === winner?.content) expect(answer.body.message.message_id).toBe(winner?.message_id ?? 0);
      else expect(answer.error?.code).toBe('idempotency_conflict');
    }
  });

  test('keeps only successes: a refused send can be tried again', async () => {
    const { user, chat_id, messages } = await someone();
    const send = (reply_to: number) =>
      user.call('messages.send_message', { chat_id, content: 'answer', reply_to }, key('k'));
    expect((await send(987_654_321)).error?.code).toBe('validation_failed');
    const { message } = await user.ok('messages.send_message', { chat_id, content: 'question' });
    expect((await send(message.message_id)).status).toBe(200);
    expect(await messages()).toHaveLength(2);
  });

  test('lets a send through whose twin with another input failed in the same batch', async () => {
    const { user, chat_id, messages } = await someone();
    const [bad, good] = await Promise.all([
      user.call('messages.send_message', { chat_id, content: 'a', reply_to: 987_654_321 }, key('k')),
      user.call('messages.send_message', { chat_id, content: 'b' }, key('k')),
    ]);
    expect(good.status).toBe(200);
    expect(['validation_failed', 'idempotency_conflict']).toContain(bad.error?.code ?? '');
    expect((await messages()).map((m) => m.content)).toEqual(['b']);
  });

  test('belongs to one user and one operation', async () => {
    const [a, b] = [await someone(), await someone()];
    const first = await a.user.ok('messages.send_message', { chat_id: a.chat_id, content: 'x' }, key('shared'));
    const second = await b.user.ok('messages.send_message', { chat_id: b.chat_id, content: 'x' }, key('shared'));
    expect(second.message.message_id).not.toBe(first.message.message_id);
    const group = await a.user.ok('messages.create_group', { name: 'x', participants: [] }, key('shared'));
    expect(group.group.type).toBe('group');
  });

  test('works for every operation that creates', async () => {
    const { user } = await someone();
    const other = await server().user(`other${Math.random().toString(36).slice(2)}`);
    const admin = await server().user(`admin${Math.random().toString(36).slice(2)}`, { admin: true });
    const twice = async (make: () => Promise<unknown>) => {
      const answers = await Promise.all([make(), make(), make()]);
      expect(new Set(answers.map((a) => JSON.stringify(a)))).toHaveLength(1);
    };
    await twice(() => user.ok('messages.create_group', { name: 'g', participants: [other.userId] }, key('k')));
    await twice(() => user.ok('messages.create_channel', { name: 'c' }, key('k')));
    await twice(() => user.ok('messages.create_direct', { user_id: other.userId }, key('k')));
    await twice(() => admin.ok('users.create', { name: `n${user.userId}` }, key('k')));
    const { chats } = await user.ok('chats.list', {});
    expect(chats.map((c) => c.type).sort()).toEqual(['channel', 'direct', 'group', 'group']);
  });

  test('does not apply to tokens.create, whose answer is secret', async () => {
    const { user } = await someone();
    const create = () => user.ok('tokens.create', { name: 't' }, key('k'));
    expect((await create()).access_token).not.toBe((await create()).access_token);
  });

  test('must be printable', async () => {
    const { user, chat_id } = await someone();
    for (const bad of ['with space', 'x'.repeat(256)]) {
      const answer = await user.call('messages.send_message', { chat_id, content: 'x' }, key(bad));
      expect(answer.error?.code).toBe('invalid_request');
    }
  });

  test('is remembered over a restart', async () => {
    const env = await freshEnvironment(engine);
    let restarted = await startServer(env);
    const user = await restarted.user('ada');
    const { group } = await user.ok('messages.create_group', { name: 'Notes', participants: [] });
    const send = (url: string) =>
      new Client(url, user.token, user.userId).ok(
        'messages.send_message',
        { chat_id: group.chat_id, content: 'once' },
        key('k'),
      );
    const before = await send(restarted.url);
    await restarted.stop();
    restarted = await startServer(env);
    expect(await send(restarted.url)).toEqual(before);
    await restarted.stop();
  });
});
