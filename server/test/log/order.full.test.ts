import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { Client } from '../support/client.ts';
import { freshEnvironment, onPostgres } from '../support/engines.ts';
import { followEvents, followMessages, rising } from '../support/following.ts';
import { attach, spawnServer } from '../support/server.ts';

onPostgres('two server processes on one database', () => {
  test('lose nothing, keep the order and never deadlock', async () => {
    const env = await freshEnvironment('postgres');
    const processes = await Promise.all([spawnServer(env), spawnServer({ ...env })]);
    const [first, second] = processes;
    const server = await attach(first.url, env);
    try {
      const through = (client: Client, url: string) => new Client(url, client.token, client.userId);
      const users = await Promise.all(Array.from({ length: 6 }, (_, i) => server.user(`user${i}`)));
      const reader = await server.user('reader');
      const outsider = await server.user('outsider');
      const chats = await Promise.all(
        Array.from({ length: 4 }, async (_, i) => {
          const participants = users.map((u) => u.userId);
          const { group } = await reader.ok('messages.create_group', { name: `Group ${i}`, participants });
          return group.chat_id;
        }),
      );
      const { next } = await reader.ok('events.list', { after: 0 });
      let writing = true;
      let acknowledged = 0;
      const sent = new Map(chats.map((chat) => [chat, [] as number[]]));

      const chatter = async (user: Client, turn: number) => {
        for (let i = 0; i < 60; i++) {
          const chat_id = chats[(i + turn) % chats.length] ?? 0;
          const { message } = await user.ok('messages.send_message', { chat_id, content: `${turn}/${i}` });
          sent.get(chat_id)?.push(message.message_id);
          acknowledged++;
          if (i % 6 === 0) {
            await user.ok('messages.add_reaction', { message_id: message.message_id, emoji: '👍' });
            acknowledged++;
          }
          await user.ok('messages.mark_read', { chat_id });
        }
      };
      // Both owners bring and remove the same person, so each at times finds the work done.
      const comeAndGo = async (owner: Client) => {
        for (let i = 0; i < 20; i++) {
          const chat_id = chats[i % chats.length] ?? 0;
          const { added } = await owner.ok('chats.add_participants', { chat_id, participants: [outsider.userId] });
          const { status } = await owner.call('chats.remove_participant', { chat_id, user_id: outsider.userId });
          acknowledged += added.length + (status === 200 ? 1 : 0);
        }
      };
      const readers = [
        followEvents(through(reader, second.url), next, () => !writing),
        ...chats.map((chat) => followMessages(through(reader, second.url), chat, () => !writing)),
      ];
      await Promise.all([
        ...users.map((user, i) => chatter(through(user, i % 2 === 0 ? first.url : second.url), i)),
        comeAndGo(reader),
        comeAndGo(through(reader, second.url)),
      ]);
      writing = false;
      const [events, ...messages] = await Promise.all(readers);

      expect(rising(events ?? [])).toBeTrue();
      for (const [i, chat] of chats.entries()) {
        expect(rising(messages[i] ?? [])).toBeTrue();
        expect(messages[i]).toEqual(sent.get(chat)?.sort((a, b) => a - b) ?? []);
      }
      const inLog = await server.engine.get<{ n: number }>('SELECT count(*) AS n FROM events WHERE event_id > $1', [
        next,
      ]);
      expect(events).toHaveLength(inLog?.n ?? -1);
      expect(acknowledged).toBe(inLog?.n ?? -1);
      expect(await deadlocks(env.DATABASE_URL ?? '')).toBe(0);
    } finally {
      await server.stop();
      await Promise.all(processes.map((p) => p.kill('SIGTERM')));
    }
  });
});

async function deadlocks(url: string): Promise<number> {
  const sql = new SQL(url, { max: 1 });
  const rows = await sql.unsafe('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  await sql.close();
  return Number(rows[0]?.deadlocks);
}
