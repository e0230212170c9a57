import { type ChatId, invalidField, type Role, type UserId } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import { requireWithin } from '../domain/quotas.ts';
import { addChat } from '../store/access/owner-use.ts';
import { unknownUsers } from '../store/access/users.ts';
import { directKeyOf, findDirect, insertChat, type NewChat } from '../store/chat/chats.ts';
import { insertMembers } from '../store/chat/members.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { appendOne } from '../store/log/events.ts';
import { chatFor } from './chats.ts';
import { change, type Handlers, type Services } from './operation.ts';

export const createChatHandlers = (services: Services) =>
  ({
    'messages.create_group': change(services, async (tx, at, { caller, input }) => {
      const chat = { ...input, type: 'group', visibility: 'private' } as const;
      const chatId = await createChat(tx, services, caller, chat, input.participants, at);
      return { group: await chatFor(tx, chatId, caller.userId) };
    }),

    'messages.create_channel': change(services, async (tx, at, { caller, input }) => {
      const chatId = await createChat(tx, services, caller, { ...input, type: 'channel' }, input.participants, at);
      return { channel: await chatFor(tx, chatId, caller.userId) };
    }),

    'messages.create_direct': change(services, async (tx, at, { caller, input }) => {
      const { userId } = caller;
      if (input.user_id === userId) throw invalidField('user_id', 'is your own: a direct chat has two sides');
      if ((await unknownUsers(tx, [input.user_id])).length > 0) throw invalidField('user_id', 'is not a user');
      const pair = [userId, input.user_id].sort((a, b) => a - b) as [UserId, UserId];
      const existing = await findDirect(tx, directKeyOf(userId, input.user_id));
      return { chat: await chatFor(tx, existing ?? (await createDirect(tx, services, caller, pair, at)), userId) };
    }),
  }) satisfies Partial<Handlers>;

async function createDirect(
  tx: Tx,
  services: Services,
  { userId: creator, ownerId }: Caller,
  pair: readonly [UserId, UserId],
  at: number,
): Promise<ChatId> {
  const direct_key = directKeyOf(...pair);
  const chat = { type: 'direct', visibility: 'private', name: null, description: '', direct_key } as const;
  const chatId = await insertChat(tx, { ...chat, created_by: creator, created_at: at });
  if (chatId === undefined) {
    // Another transaction created it and has committed: the insert waited for it.
    const theirs = await findDirect(tx, direct_key);
    if (theirs === undefined) throw new Error('a direct chat both exists and does not');
    return theirs;
  }
  await countChat(tx, services, ownerId);
  const data = { chat_id: chatId, user_id: creator, participants: [...pair] };
  const event_id = await appendOne(tx, { event: 'direct_created', data }, at);
  const joining = pair.map((user_id) => ({ user_id, role: 'member' as const, event_id }));
  await insertMembers(tx, chatId, joining, at);
  return chatId;
}

interface GroupOrChannel extends Pick<NewChat, 'visibility'> {
  readonly type: 'group' | 'channel';
  readonly name: string;
  readonly description?: string | undefined;
}

/** Creates a group or channel that its creator owns. One event announces it with all its first participants. */
async function createChat(
  tx: Tx,
  services: Services,
  { userId: creator, ownerId }: Caller,
  { type, visibility, name, description = '' }: GroupOrChannel,
  others: readonly UserId[],
  at: number,
): Promise<ChatId> {
  const participants = [creator, ...(await knownOthers(tx, creator, others))];
  const chat = { type, visibility, name, description, direct_key: null };
  const chatId = await insertChat(tx, { ...chat, created_by: creator, created_at: at });
  if (chatId === undefined) throw new Error('the new chat has no id');
  await countChat(tx, services, ownerId);
  const data = { chat_id: chatId, name, user_id: creator, participants };
  const event_id = await appendOne(tx, { event: `${type}_created`, data }, at);
  const roleOf = (userId: UserId): Role => (userId === creator ? 'owner' : 'member');
  const joining = participants.map((user_id) => ({ user_id, role: roleOf(user_id), event_id }));
  await insertMembers(tx, chatId, joining, at);
  return chatId;
}

/** Throws `conflict` if the owner has created more chats than allowed. */
async function countChat(tx: Tx, { quotas }: Services, ownerId: UserId): Promise<void> {
  requireWithin(quotas, 'chats', await addChat(tx, ownerId));
}

/** Returns the participants besides the caller. Throws if one of them is not a user. */
export async function knownOthers(db: Db, caller: UserId, participants: readonly UserId[]): Promise<UserId[]> {
  const others = participants.filter((id) => id !== caller);
  const unknown = await unknownUsers(db, others);
  if (unknown.length > 0) throw invalidField('participants', `not a user: ${unknown.join(', ')}`);
  return others;
}
