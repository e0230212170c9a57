import type { ChatId, NewEvent, UserId } from '@parley/contract';
import type { Tx } from '../engine/engine.ts';
import { append } from '../log/events.ts';
import { insertMembers } from './members.ts';

/** Starts a membership period for each user, with the event of joining. */
export async function startMemberships(
  tx: Tx,
  chat_id: ChatId,
  users: readonly UserId[],
  actor_id: UserId,
  at: number,
): Promise<void> {
  if (users.length === 0) return;
  const joined = users.map((user_id): NewEvent => ({ event: 'user_joined', data: { chat_id, user_id, actor_id } }));
  const eventIds = await append(tx, joined, at);
  const joining = eventIds.map((event_id, i) => ({ user_id: users[i] as UserId, role: 'member' as const, event_id }));
  await insertMembers(tx, chat_id, joining, at);
}
