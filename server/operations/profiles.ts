import { type ChatId, invalidField, type NewEvent, ParleyError, type UserId } from '@parley/contract';
import { accessBot } from '../auth/bots.ts';
import type { Caller } from '../auth/caller.ts';
import { requireOwnLook } from '../auth/users.ts';
import { avatarSizes, UnusablePicture } from '../files/pictures.ts';
import type { ReceivedFile } from '../files/uploads.ts';
import { findAvatar, replaceAvatar } from '../store/access/avatars.ts';
import { findUser, type Profile, type UserRow, updateProfile } from '../store/access/users.ts';
import { chatsOfHooks } from '../store/chat/hooks.ts';
import { chatsOf, countChatsOf } from '../store/chat/members.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { findFile } from '../store/files/files.ts';
import { append } from '../store/log/events.ts';
import type { Call, Handlers, Services } from './operation.ts';
import * as present from './present.ts';
import { Download } from './results.ts';

/** A change of a profile is one event in each chat. It counts as one more request for so many of them. */
const eventsPerRequest = 20;

type Charge = NonNullable<Call<ProfileOperation>['charge']>;

type ProfileOperation = 'users.update' | 'users.set_avatar' | 'users.remove_avatar';

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

    'users.set_avatar': async (call) => {
      const { caller, input, charge } = call;
      await accessProfile(services.engine, caller, input.user_id);
      const made = await avatarOf(services, caller, call.file, charge);
      const pictures = avatarSizes.map((pixels) => ({ pixels, picture: Buffer.from(made[pixels]).toString('base64') }));
      const hashed = pictures.reduce((hash, { picture }) => hash.update(picture), new Bun.CryptoHasher('sha256'));
      const avatar = hashed.digest('hex').slice(0, 16);
      const user = await changeProfile(services, call, async (tx, before) => {
        if (avatar !== before.avatar) await replaceAvatar(tx, before.user_id, pictures, services.now());
        return { ...before, avatar };
      });
      return { user: present.user(user, services.avatarUrl) };
    },

    'users.remove_avatar': async (call) => {
      const user = await changeProfile(services, call, async (tx, before) => {
        await replaceAvatar(tx, before.user_id, [], services.now());
        return { ...before, avatar: null };
      });
      return { user: present.user(user, services.avatarUrl) };
    },

    'users.avatar': async ({ input: { user_id, size, version } }) => {
      const found = await findAvatar(services.engine, user_id, size);
      if (!found) throw new ParleyError('not_found', 'This user has no picture.');
      const { avatar, picture, created_at } = found;
      const bytes = Buffer.from(picture, 'base64');
      const file = {
        name: 'avatar.webp',
        mime_type: 'image/webp',
        size: bytes.length,
        sha256: `${avatar}-${size}`,
        created_at,
        isImmutable: version === avatar,
      };
      return new Download(file, async (start, end) => new Blob([bytes.subarray(start, end)]));
    },
  }) satisfies Partial<Handlers>;

/** Makes the pictures of an avatar from an uploaded file, which is removed at the end of the call. */
async function avatarOf(
  { engine, now, files, pictures }: Services,
  { ownerId }: Caller,
  file: ReceivedFile | undefined,
  charge?: Charge,
) {
  const row = file && (await findFile(engine, file.file_id, now()));
  if (!row) throw invalidField('file', 'is required');
  try {
    const read = async () => new Response(await files.read(row.key, 0, file.size)).bytes();
    return await pictures.avatar(ownerId, read, charge);
  } catch (error) {
    if (!(error instanceof UnusablePicture)) throw error;
    throw new ParleyError(
      'validation_failed',
      `file: ${error.message}`,
      [{ field: 'file', message: error.message }],
      error,
    );
  }
}

/** Returns the user whose profile a call changes: the caller, or a bot of the caller. Throws `not_found` for any other. */
async function accessProfile(db: Db, { userId }: Caller, asked: UserId | undefined): Promise<UserRow> {
  if (asked !== undefined && asked !== userId) return accessBot(db, userId, asked);
  const user = await findUser(db, userId);
  if (!user) throw new Error('the caller has no row');
  return user;
}

/**
 * Changes the profile of a user, and appends an event to each of their chats. Without a change there is no event. The events
 * count as messages of the day. A picture can be removed even if there are too many.
 */
async function changeProfile(
  { engine, now, avatarUrl, dailyMessages }: Services,
  { name, caller, input: { user_id = caller.userId }, charge }: Call<ProfileOperation>,
  edit: (tx: Tx, before: UserRow) => Promise<Profile>,
): Promise<UserRow> {
  // Before the count, which would tell how many chats another user is in.
  await accessProfile(engine, caller, user_id);
  charge?.(Math.ceil((await countChatsOf(engine, user_id)) / eventsPerRequest));
  return engine.write(async (tx) => {
    await tx.lockKeys([`profile of ${user_id}`]);
    const before = await accessProfile(tx, caller, user_id);
    const user = { ...before, ...(await edit(tx, before)) };
    if (Bun.deepEquals(before, user)) return user;
    if (name !== 'users.remove_avatar') dailyMessages.require(caller.ownerId);
    await updateProfile(tx, user, user);
    // Takes the event lock, so that nobody joins a chat between the list of chats and the events.
    await tx.takeIds({ messages: 0, events: 0 });
    const joined = await chatsOf(tx, user_id, 0, Number.MAX_SAFE_INTEGER);
    const chatIds = [...joined, ...(await chatsOfHooks(tx, user_id))];
    if (chatIds.length > 0) await append(tx, chatIds.map(updatedIn(user, avatarUrl)), now());
    dailyMessages.add(caller.ownerId, chatIds.length);
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
