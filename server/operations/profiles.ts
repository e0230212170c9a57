import type { ChatId, NewEvent, UserId } from '@parley/contract';
import { accessBot } from '../auth/bots.ts';
import type { Caller } from '../auth/caller.ts';
import { requireOwnLook } from '../auth/users.ts';
import { findUser, type Profile, type UserRow, updateProfile } from '../store/access/users.ts';
import { chatsOf, countChatsOf } from '../store/chat/members.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { append } from '../store/log/events.ts';
import type { Call, Handlers, Services } from './operation.ts';
import * as present from './present.ts';

/** A change of a profile is one event in each chat. It counts as one more request for so many of them. */
const eventsPerRequest = 20;

type ProfileOperation = 'users.update';

export const profileHandlers = (services: Services) =>
  ({
    'users.update': async (call) => {
      const { display_name, status_text, time_zone } = call.input;
      const user = await changeProfile(services, call, async (tx, before) => {
        if (display_name !== undefined && display_name !== before.display_name) {
          await requireOwnLook(tx, display_name, call.caller.ownerId);
        }
        return {
          display_name: display_name ?? before.display_name,
          status_text: status_text ?? before.status_text,
          time_zone: time_zone === undefined ? before.time_zone : time_zone,
          avatar: before.avatar,
        };
      });
      return { user: present.user(user, services.avatarUrl) };
    },
  }) satisfies Partial<Handlers>;

/** Returns the user whose profile a call changes: the caller, or a bot of the caller. Throws `not_found` for any other. */
async function accessProfile(db: Db, { userId }: Caller, asked: UserId | undefined): Promise<UserRow> {
  if (asked !== undefined && asked !== userId) return accessBot(db, userId, asked);
  const user = await findUser(db, userId);
  if (!user) throw new Error('the caller has no row');
  return user;
}

/** Changes the profile of a user, and appends an event to each of their chats. Without a change there is no event. */
async function changeProfile(
  { engine, now, avatarUrl }: Services,
  { caller, input: { user_id = caller.userId }, charge }: Call<ProfileOperation>,
  edit: (tx: Tx, before: UserRow) => Promise<Profile>,
): Promise<UserRow> {
  // Before the count, which would tell how many chats another user is in.
  await accessProfile(engine, caller, user_id);
  charge?.(Math.floor((await countChatsOf(engine, user_id)) / eventsPerRequest));
  return engine.write(async (tx) => {
    await tx.lockKeys([`profile of ${user_id}`]);
    const before = await accessProfile(tx, caller, user_id);
    const user = { ...before, ...(await edit(tx, before)) };
    if (Bun.deepEquals(before, user)) return user;
    await updateProfile(tx, user, user);
    // Takes the event lock, so that nobody joins a chat between the list of chats and the events.
    await tx.takeIds({ messages: 0, events: 0 });
    const chatIds = await chatsOf(tx, user_id, 0, Number.MAX_SAFE_INTEGER);
    if (chatIds.length > 0) await append(tx, chatIds.map(updatedIn(user, avatarUrl)), now());
    return user;
  });
}

const updatedIn =
  (user: UserRow, avatarUrl: present.AvatarUrl) =>
  (chat_id: ChatId): NewEvent => {
    const { user_id, name, display_name, status_text, time_zone } = user;
    const data = { chat_id, user_id, name, display_name, status_text, time_zone, avatar_url: avatarUrl(user) };
    return { event: 'user_updated', data };
  };
