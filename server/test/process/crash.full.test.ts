import { expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { attach, spawnServer } from '../support/server.ts';

onAnyEngine('a server killed with SIGKILL under load', (engine) => {
  test('has every acknowledged message and its event once', async () => {
    const env = await freshEnvironment(engine);
    let running = await spawnServer(env);
    const server = await attach(running.url, env);
    const user = await server.user('ada');
    const { group } = await user.ok('messages.create_group', { name: 'Log', participants: [] });
    const chat_id = group.chat_id;
    const answered = new Map<string, number>();
    await server.stop();

    for (let round = 0; round < 3; round++) {
      const client = new Client(running.url, user.token, user.userId);
      let alive = true;
      const writer = async (name: string) => {
        for (let i = 0; alive; i++) {
          const content = `${round}/${name}/${i}`;
          try {
            const { message } = await client.ok('messages.send_message', { chat_id, content });
            answered.set(content, message.message_id);
          } catch {
            return;
          }
        }
      };
      const writers = Array.from({ length: 16 }, (_, i) => writer(String(i)));
      const goal = answered.size + 300;
      while (answered.size < goal) await Bun.sleep(5);
      await running.kill('SIGKILL');
      alive = false;
      await Promise.all(writers);
      running = await spawnServer(env);
    }

    const client = new Client(running.url, user.token, user.userId);
    const found = new Map<string, number>();
    for (let after_id = 0, more = true; more; ) {
      const page = await client.ok('messages.get_messages', { chat_id, after_id, limit: 200 });
      for (const message of page.messages) {
        expect(found.has(message.content)).toBeFalse();
        found.set(message.content, message.message_id);
        after_id = message.message_id;
      }
      more = page.has_more;
    }
    for (const [content, id] of answered) expect(found.get(content)).toBe(id);

    const told: number[] = [];
    for (let after = 0, more = true; more; ) {
      const page = await client.ok('events.list', { after, limit: 200, events: ['new_message'] });
      told.push(...page.events.map((e) => e.data.message_id as number));
      after = page.next;
      more = page.has_more;
    }
    expect(told).toEqual([...found.values()].sort((a, b) => a - b));
    await running.kill('SIGTERM');
  });
});
