import { type ChatId, type NewEvent, ParleyError, type UserId } from '@parley/contract';
import { record } from '../auth/audit.ts';
import {
  countOwners,
  endMembership,
  findParticipant,
  insertMembers,
  listParticipants,
  presentAmong,
  updateRole,
} from '../store/chat/members.ts';
import type { Tx } from '../store/engine/engine.ts';
import { append, appendOne } from '../store/log/events.ts';
import { accessChat, accessChatTo, lockChatTo } from './access.ts';
import { chatFor } from './chats.ts';
import { knownOthers } from './create-chat.ts';
import { actorOf, change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';

export function participants({ engine }: Services): Handler<'chats.participants'> {
  return async ({ caller, input }) => {
    await accessChatTo(engine, 'read', caller.userId, input.chat_id);
    const found = await listParticipants(engine, input.chat_id, input.after_id, input.limit + 1);
    const { rows, has_more } = present.page(found, input.limit);
    return { participants: rows.map(present.participant), has_more };
  };
}

export function addParticipants(services: Services): Handler<'chats.add_participants'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { chat } = await lockChatTo(tx, 'manage_participants', caller.userId, input.chat_id);
      const asked = await knownOthers(tx, caller.userId, input.participants);
      const there = await presentAmong(tx, chat.chat_id, asked);
      const added = asked.filter((id) => !there.has(id));
      await admit(tx, chat.chat_id, added, caller.userId, at);
      return { chat: await chatFor(tx, chat.chat_id, caller.userId), added };
    });
}

export function removeParticipant(services: Services): Handler<'chats.remove_participant'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { chat } = await lockChatTo(tx, 'manage_participants', caller.userId, input.chat_id);
      const target = await participantOf(tx, chat.chat_id, input.user_id);
      if (target.role === 'owner') throw new ParleyError('forbidden', 'Nobody removes an owner.');
      await dismiss(tx, chat.chat_id, target.user_id, caller.userId, at);
      return { chat: await chatFor(tx, chat.chat_id, caller.userId) };
    });
}

export function setRole(services: Services): Handler<'chats.set_role'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { chat } = await lockChatTo(tx, 'set_role', caller.userId, input.chat_id);
      const target = await participantOf(tx, chat.chat_id, input.user_id);
      if (target.role === input.role) return { participant: present.participant(target) };
      if (target.role === 'owner') await requireSuccessor(tx, chat.chat_id);
      await updateRole(tx, chat.chat_id, target.user_id, input.role);
      const { role, user_id } = { role: input.role, user_id: target.user_id };
      const data = { chat_id: chat.chat_id, user_id, actor_id: caller.userId, role, previous_role: target.role };
      await appendOne(tx, { event: 'role_changed', data }, at);
      await record(tx, at, actorOf(call), 'role_changed', data);
      return { participant: present.participant({ ...target, role }) };
    });
}

export function join(services: Services): Handler<'chats.join'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      await tx.lockChat(input.chat_id);
      const chat = await accessChat(tx, caller.userId, input.chat_id);
      if (chat.role === null) await admit(tx, chat.chat_id, [caller.userId], caller.userId, at);
      return { chat: await chatFor(tx, chat.chat_id, caller.userId) };
    });
}

export function leave(services: Services): Handler<'chats.leave'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const { chat, role } = await lockChatTo(tx, 'leave', caller.userId, input.chat_id);
      if (role === 'owner') await requireSuccessor(tx, chat.chat_id);
      await dismiss(tx, chat.chat_id, caller.userId, caller.userId, at);
      return { chat_id: chat.chat_id };
    });
}

/** Begins stays; each begins with the event that tells of it. */
async function admit(tx: Tx, chat_id: ChatId, users: readonly UserId[], actor_id: UserId, at: number): Promise<void> {
  if (users.length === 0) return;
  const told = users.map((user_id): NewEvent => ({ event: 'user_joined', data: { chat_id, user_id, actor_id } }));
  const ids = await append(tx, told, at);
  const joining = users.flatMap((user_id, i) => {
    const event_id = ids[i];
    return event_id === undefined ? [] : [{ user_id, role: 'member' as const, event_id }];
  });
  await insertMembers(tx, chat_id, joining, at);
}

/** Ends a membership period with the event of leaving. */
async function dismiss(tx: Tx, chat_id: ChatId, user_id: UserId, actor_id: UserId, at: number): Promise<void> {
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
  throw new ParleyError('conflict', 'A chat keeps at least one owner: make somebody else owner first.');
}
