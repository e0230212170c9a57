import { expect, test } from 'bun:test';
import { onPostgres } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

onPostgres('transactions that wait for a lock', () => {
  const server = serverFor('postgres');

  test('leave connections for the reads of others', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const groups = 30;
    let created = 0;
    const creating = await server().engine.write(async (tx) => {
      await tx.run('LOCK TABLE chats IN EXCLUSIVE MODE');
      const calls = Array.from({ length: groups }, async () => {
        await ada.ok('messages.create_group', { name: 'Wait for it', participants: [] });
        created++;
      });
      for (let i = 0; i < groups; i++) await bob.ok('users.me', {});
      expect(created).toBe(0);
      return calls;
    });
    await Promise.all(creating);
    expect(created).toBe(groups);
  });
});
