import { type ChatId, invalidField, type NewEvent, type Role, type UserId } from '@parley/contract';
import { unknownUsers } from '../store/access/users.ts';
import { findDirect, insertChat, type NewChat } from '../store/chat/chats.ts';
import { insertMembers } from '../store/chat/members.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { chatFor } from './chats.ts';
import { change, type Handler, type Services } from './operation.ts';

export function createGroup(services: Services): Handler<'messages.create_group'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const chatId = await found(tx, {
        chat: { type: 'group', visibility: 'private', name: input.name, description: input.description ?? '' },
        creator: caller.userId,
        others: await knownOthers(tx, caller.userId, input.participants),
        event: 'group_created',
        at,
      });
      return { group: await chatFor(tx, chatId, caller.userId) };
    });
}

export function createChannel(services: Services): Handler<'messages.create_channel'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      const chatId = await found(tx, {
        chat: { type: 'channel', visibility: input.visibility, name: input.name, description: input.description ?? '' },
        creator: caller.userId,
        others: await knownOthers(tx, caller.userId, input.participants),
        event: 'channel_created',
        at,
      });
      return { channel: await chatFor(tx, chatId, caller.userId) };
    });
}

export function createDirect(services: Services): Handler<'messages.create_direct'> {
  return (call) =>
    change(services, call, async (tx, at) => {
      const { caller, input } = call;
      if (input.user_id === caller.userId) throw invalidField('user_id', 'is your own: a direct chat has two sides');
      if ((await unknownUsers(tx, [input.user_id])).length > 0) throw invalidField('user_id', 'is not a user');
      const pair = [caller.userId, input.user_id].sort((a, b) => a - b);
      const directKey = pair.join(':');
      const existing = await findDirect(tx, directKey);
      const chatId = existing ?? (await openDirect(tx, caller.userId, pair, directKey, at));
      return { chat: await chatFor(tx, chatId, caller.userId) };
    });
}

async function openDirect(tx: Tx, creator: UserId, pair: UserId[], directKey: string, at: number): Promise<ChatId> {
  const chatId = await insertChat(tx, {
    type: 'direct',
    visibility: 'private',
    name: null,
    description: '',
    created_by: creator,
    created_at: at,
    direct_key: directKey,
  });
  if (chatId === undefined) {
    // Somebody else opened it just now, and has committed: the insert waited for that.
    const theirs = await findDirect(tx, directKey);
    if (theirs === undefined) throw new Error('a direct chat both exists and does not');
    return theirs;
  }
  const data = { chat_id: chatId, user_id: creator, participants: pair };
  const eventId = await appendOne(tx, { event: 'direct_created', data }, at);
  const joining = pair.map((user_id) => ({ user_id, role: 'member' as const, event_id: eventId }));
  await insertMembers(tx, chatId, joining, at);
  return chatId;
}

interface Founding {
  readonly chat: Pick<NewChat, 'type' | 'visibility' | 'description'> & { name: string };
  readonly creator: UserId;
  readonly others: readonly UserId[];
  readonly event: 'group_created' | 'channel_created';
  readonly at: number;
}

/** Creates a chat whose creator owns it. One event tells of it and of everyone who is in it from the start. */
async function found(tx: Tx, { chat, creator, others, event, at }: Founding): Promise<ChatId> {
  const chatId = await insertChat(tx, { ...chat, created_by: creator, created_at: at, direct_key: null });
  if (chatId === undefined) throw new Error('the new chat was not answered');
  const participants = [creator, ...others];
  const told: NewEvent = { event, data: { chat_id: chatId, name: chat.name, user_id: creator, participants } };
  const eventId = await appendOne(tx, told, at);
  const role = (userId: UserId): Role => (userId === creator ? 'owner' : 'member');
  const joining = participants.map((user_id) => ({ user_id, role: role(user_id), event_id: eventId }));
  await insertMembers(tx, chatId, joining, at);
  return chatId;
}

/** The participants besides the caller; one that is not a user refuses the whole. */
export async function knownOthers(db: Db, caller: UserId, participants: readonly UserId[]): Promise<UserId[]> {
  const others = participants.filter((id) => id !== caller);
  const unknown = await unknownUsers(db, others);
  if (unknown.length > 0) throw invalidField('participants', `not a user: ${unknown.join(', ')}`);
  return others;
}
