import { beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('a chat whose owner is disabled', (engine) => {
  const server = serverFor(engine);
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });

  /** A group of the first user, whom the others join one after the other. */
  const groupOf = async (owner: Client, ...others: Client[]) => {
    const { chat_id } = (await owner.ok('messages.create_group', { name: 'g', participants: [] })).group;
    for (const { userId } of others) await owner.ok('chats.add_participants', { chat_id, participants: [userId] });
    return chat_id;
  };
  const disable = ({ userId }: Client) => root.ok('users.disable', { user_id: userId });
  const ownersSeenBy = async (user: Client, chat_id: number) =>
    (await user.ok('chats.participants', { chat_id })).participants
      .filter((p) => p.role === 'owner')
      .map((p) => p.user_id as number);
  const roleChanges = async (user: Client, after: number, chat_id: number) =>
    (await eventsAfter(user, after, { chat_id })).filter((e) => e.event === 'role_changed').map((e) => e.data);

  test('keeps the other owner, who is then the last and cannot leave', async () => {
    const { ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo');
    const chat_id = await groupOf(ada, bob, cleo);
    await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'owner' });
    const tip = await eventTip(ada);
    await disable(bob);
    expect(await roleChanges(ada, tip, chat_id)).toEqual([]);
    expect(await ada.refused('chats.leave', { chat_id })).toBe('conflict');
    expect(await ada.refused('chats.set_role', { chat_id, user_id: ada.userId, role: 'member' })).toBe('conflict');
    await ada.ok('chats.set_role', { chat_id, user_id: cleo.userId, role: 'owner' });
    await ada.ok('chats.leave', { chat_id });
  });

  test('goes to the admin who has been in it longest, and tells of it', async () => {
    // cleo is neither the oldest user nor the first admin, and bob joined before her.
    const { dora, cleo, bob, ada } = await users(server(), 'dora', 'cleo', 'bob', 'ada');
    const chat_id = await groupOf(ada, bob, cleo, dora);
    for (const { userId } of [dora, cleo]) {
      await ada.ok('chats.set_role', { chat_id, user_id: userId, role: 'admin' });
    }
    const tip = await eventTip(bob);
    await disable(ada);
    expect(await roleChanges(bob, tip, chat_id)).toEqual([
      expect.objectContaining({ chat_id, user_id: cleo.userId, role: 'owner', previous_role: 'admin' }),
    ]);
    expect(await ownersSeenBy(bob, chat_id)).toContain(cleo.userId);
    await cleo.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'admin' });
  });

  test('goes to the member who has been in it longest, where there is no admin who can act', async () => {
    const { cleo, bob, dora, ada } = await users(server(), 'cleo', 'bob', 'dora', 'ada');
    const chat_id = await groupOf(ada, dora, bob, cleo);
    await ada.ok('chats.set_role', { chat_id, user_id: dora.userId, role: 'admin' });
    await disable(dora);
    const tip = await eventTip(cleo);
    await disable(ada);
    expect(await roleChanges(cleo, tip, chat_id)).toEqual([
      expect.objectContaining({ chat_id, user_id: bob.userId, role: 'owner', previous_role: 'member' }),
    ]);
    expect(await bob.refused('chats.leave', { chat_id })).toBe('conflict');
    await bob.ok('chats.update', { chat_id, name: 'mine now' });
  });

  test('stays as it is where nobody else is in it', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    await bob.ok('chats.leave', { chat_id });
    await disable(ada);
    expect(
      await server().engine.all('SELECT role FROM members WHERE chat_id = $1 AND left_event IS NULL', [chat_id]),
    ).toEqual([{ role: 'owner' }]);
  });
});
