import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import { record } from '../auth/audit.ts';
import { startMemberships } from '../store/chat/joining.ts';
import {
  countOwners,
  endMembership,
  findParticipant,
  listParticipants,
  presentAmong,
  updateRole,
} from '../store/chat/members.ts';
import type { Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { accessChat, accessChatTo, lockChatTo } from './access.ts';
import { chatFor } from './chats.ts';
import { knownOthers } from './create-chat.ts';
import { actorOf, change, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const participantHandlers = (services: Services) =>
  ({
    'chats.participants': async ({ caller, input: { chat_id, after_id, limit } }) => {
      await accessChatTo(services.engine, 'read', caller.userId, chat_id);
      const found = await listParticipants(services.engine, chat_id, after_id, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      return { participants: rows.map(present.participant), has_more };
    },

    'chats.add_participants': change(services, async (tx, at, { caller, input: { chat_id, participants } }) => {
      await lockChatTo(tx, 'manage_participants', caller.userId, chat_id);
      const requested = await knownOthers(tx, caller.userId, participants);
      const there = await presentAmong(tx, chat_id, requested);
      const added = requested.filter((id) => !there.has(id));
      await startMemberships(tx, chat_id, added, caller.userId, at);
      return { chat: await chatFor(tx, chat_id, caller.userId), added };
    }),

    'chats.remove_participant': change(services, async (tx, at, { caller, input: { chat_id, user_id } }) => {
      await lockChatTo(tx, 'manage_participants', caller.userId, chat_id);
      const target = await participantOf(tx, chat_id, user_id);
      if (target.role === 'owner') throw new ParleyError('forbidden', 'An owner cannot be removed.');
      await leaveChat(tx, chat_id, user_id, caller.userId, at);
      return { chat: await chatFor(tx, chat_id, caller.userId) };
    }),

    'chats.set_role': change(services, async (tx, at, call) => {
      const { chat_id, user_id, role } = call.input;
      const actor = actorOf(call);
      await lockChatTo(tx, 'set_role', actor.userId, chat_id);
      const target = await participantOf(tx, chat_id, user_id);
      if (target.role === role) return { participant: present.participant(target) };
      if (target.role === 'owner') await requireSuccessor(tx, chat_id);
      await updateRole(tx, chat_id, user_id, role);
      const data = { chat_id, user_id, actor_id: actor.userId, role, previous_role: target.role };
      await appendOne(tx, { event: 'role_changed', data }, at);
      await record(tx, at, actor, 'role_changed', data);
      return { participant: present.participant({ ...target, role }) };
    }),

    'chats.join': change(services, async (tx, at, { caller: { userId }, input: { chat_id } }) => {
      await tx.lockChat(chat_id);
      const { role } = await accessChat(tx, userId, chat_id);
      if (role === null) await startMemberships(tx, chat_id, [userId], userId, at);
      return { chat: await chatFor(tx, chat_id, userId) };
    }),

    'chats.leave': change(services, async (tx, at, { caller: { userId }, input: { chat_id } }) => {
      const { role } = await lockChatTo(tx, 'leave', userId, chat_id);
      if (role === 'owner') await requireSuccessor(tx, chat_id);
      await leaveChat(tx, chat_id, userId, userId, at);
      return { chat_id };
    }),
  }) satisfies Partial<Handlers>;

/** Ends a membership period with the event of leaving. */
async function leaveChat(tx: Tx, chat_id: ChatId, user_id: UserId, actor_id: UserId, at: number): Promise<void> {
  const event = await appendOne(tx, { event: 'user_left', data: { chat_id, user_id, actor_id } }, at);
  await endMembership(tx, chat_id, user_id, event);
}

async function participantOf(tx: Tx, chatId: ChatId, userId: UserId) {
  const found = await findParticipant(tx, chatId, userId);
  if (!found) throw new ParleyError('not_found', `User ${userId} is not a participant of this chat.`);
  return found;
}

async function requireSuccessor(tx: Tx, chatId: ChatId): Promise<void> {
  if ((await countOwners(tx, chatId)) > 1) return;
  throw new ParleyError('conflict', 'A chat needs an owner. Make another participant owner first.');
}
