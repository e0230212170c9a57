import { expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onPostgres } from '../support/engines.ts';
import { attach, spawnServer } from '../support/server.ts';

const key = (name: string) => ({ 'idempotency-key': name });

onPostgres('an Idempotency-Key on two server processes', () => {
  test('makes 50 concurrent equal sends one message', async () => {
    const env = await freshEnvironment('postgres');
    const processes = await Promise.all([spawnServer(env), spawnServer({ ...env })]);
    const server = await attach(processes[0].url, env);
    try {
      const user = await server.user('ada');
      const { group } = await user.ok('messages.create_group', { name: 'Notes', participants: [] });
      const clients = processes.map((p) => new Client(p.url, user.token, user.userId));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          clients[i % 2]?.ok('messages.send_message', { chat_id: group.chat_id, content: 'once' }, key('k')),
        ),
      );
      expect(new Set(answers.map((a) => a?.message.message_id))).toHaveLength(1);
      expect((await user.ok('messages.get_messages', { chat_id: group.chat_id })).messages).toHaveLength(1);
      const groups = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          clients[i % 2]?.ok('messages.create_group', { name: 'Twin', participants: [] }, key('k')),
        ),
      );
      expect(new Set(groups.map((g) => g?.group.chat_id))).toHaveLength(1);
    } finally {
      await server.stop();
      await Promise.all(processes.map((p) => p.kill('SIGTERM')));
    }
  });
});
