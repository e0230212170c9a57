import { z } from 'zod';
import { isCommonPassword } from '../common-passwords.ts';
import { avatarFile, pictureFile } from '../example-files.ts';
import {
  afterId,
  displayName,
  fileName,
  hasMore,
  pageLimit,
  searchText,
  statusText,
  text,
  timeOfDay,
  timeZone,
  userId,
  userIds,
  userName,
} from '../fields.ts';
import { fileInput } from '../file-input.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { presence, quietHours, user } from '../records.ts';

const at = '2026-01-01T12:00:00.000Z';
export const ada = {
  user_id: 1,
  kind: 'person' as const,
  owner_id: null,
  name: 'ada',
  display_name: 'Ada',
  status_text: '',
  time_zone: null,
  avatar_url: null,
  is_admin: true,
  created_at: at,
  disabled_at: null,
};
const bob = { ...ada, user_id: 2, name: 'bob', display_name: 'Bob', is_admin: false };

export const password = text({ min: 1, maxBytes: 1_024 })
  .refine((s) => [...s].length >= 10, 'must be at least 10 characters')
  .refine((s) => !isCommonPassword(s), 'is one of the passwords that are tried first: choose another')
  .meta({ description: 'for signing in; without one the user has only tokens', minLength: 10, maxLength: 1_024 });

const maxAvatarBytes = 10 * 1_024 ** 2;

const ownBot = userId.optional().meta({ description: 'one of your bots; yourself by default' });

export const users = (limits: Limits) => ({
  me: get([], {
    summary: 'Get the owner of the access token.',
    input: z.strictObject({}),
    output: z.object({ user }),
    example: { input: {}, output: { user: ada } },
  }),
  get: get(['chats:read'], {
    summary: 'Fetch one user with `user_id`, or many with `user_ids`.',
    input: z
      .strictObject({
        user_id: userId.optional(),
        user_ids: userIds(limits.page).optional().meta({ description: 'user ids; those of nobody are left out' }),
      })
      .refine(({ user_id, user_ids }) => (user_id === undefined) !== (user_ids === undefined), {
        path: ['user_id'],
        message: 'or user_ids is required, and not both',
      }),
    output: z.object({
      user: user.optional().meta({ description: 'with `user_id`' }),
      users: z.array(user).optional().meta({ description: 'with `user_ids`, by id' }),
    }),
    errors: ['not_found'],
    example: { input: { user_id: 2 }, output: { user: bob } },
  }),
  search: get(['chats:read'], {
    summary: 'Find users whose name or display name contains the text.',
    input: z.strictObject({
      query: searchText.optional(),
      limit: pageLimit(limits.page),
      after_id: afterId,
    }),
    output: z.object({ users: z.array(user), has_more: hasMore }),
    example: { input: { query: 'bo' }, output: { users: [bob], has_more: false } },
  }),
  update: post(['chats:write'], {
    summary: 'Change your profile, or that of one of your bots. Fields that are left out stay as they are.',
    input: z.strictObject({
      user_id: ownBot,
      display_name: displayName.optional(),
      status_text: statusText.optional(),
      time_zone: timeZone.nullable().optional(),
    }),
    output: z.object({ user }),
    errors: ['not_found'],
    example: {
      input: { status_text: 'At the launch', time_zone: 'Europe/London' },
      output: { user: { ...ada, status_text: 'At the launch', time_zone: 'Europe/London' } },
    },
  }),
  set_avatar: post(['chats:write', 'files'], {
    summary:
      'Set your picture, or that of one of your bots: the middle of a JPEG, PNG, WebP or GIF. The body is a form with the part `file`, or the bytes themselves with `name` in the query. Only two small square copies are stored, without metadata.',
    rawFile: true,
    maxFileBytes: maxAvatarBytes,
    input: z.strictObject({
      file: fileInput({ fileBytes: maxAvatarBytes }).optional(),
      name: fileName.optional().meta({ description: 'required if the body is the file itself' }),
      user_id: ownBot,
    }),
    output: z.object({ user }),
    errors: ['not_found', 'conflict'],
    example: {
      input: { file: pictureFile() },
      output: {
        user: {
          ...ada,
          avatar_url: 'http://127.0.0.1:8080/api/users.php?action=avatar&user_id=1&version=484484c6f1790582',
        },
      },
    },
  }),
  remove_avatar: post(['chats:write'], {
    summary: 'Remove your picture, or that of one of your bots.',
    input: z.strictObject({ user_id: ownBot }),
    output: z.object({ user }),
    errors: ['not_found'],
    example: { input: {}, output: { user: ada } },
  }),
  avatar: get(['chats:read'], {
    summary: 'Fetch the picture of a user, as WebP.',
    input: z.strictObject({
      user_id: userId,
      size: z
        .int()
        .refine((size) => size === 64 || size === 256, 'must be 64 or 256')
        .default(256)
        .meta({ description: 'pixels on each side: 64 or 256', enum: [64, 256] }),
      version: z
        .string()
        .regex(/^[0-9a-f]{16}$/, 'must be that of an avatar_url')
        .optional()
        .meta({ description: 'of `avatar_url`: with it the picture may be cached without revalidation' }),
    }),
    output: z.file(),
    errors: ['not_found'],
    example: { input: { user_id: 3, size: 64 }, output: avatarFile() },
  }),
  create: post(['admin'], {
    notForAgents: true,
    summary: 'Create a user.',
    idempotent: true,
    input: z.strictObject({
      name: userName,
      display_name: displayName.optional().meta({ description: 'shown to people; the name by default' }),
      is_admin: z.boolean().default(false).meta({
        description: 'an administrator of the service; true needs a browser session with a recently entered password',
      }),
      password: password.optional(),
    }),
    output: z.object({ user }),
    errors: ['forbidden', 'conflict', 'idempotency_conflict'],
    example: {
      input: { name: 'dora', display_name: 'Dora' },
      output: { user: { ...bob, user_id: 5, name: 'dora', display_name: 'Dora' } },
    },
  }),
  disable: post(['admin'], {
    summary:
      'Disable a user: all access tokens end at once; messages stay; chats that only this user owned get another owner.',
    input: z.strictObject({ user_id: userId }),
    output: z.object({ user }),
    errors: ['forbidden', 'not_found', 'conflict'],
    example: { input: { user_id: 2 }, output: { user: { ...bob, disabled_at: at } } },
  }),
  enable: post(['admin'], {
    notForAgents: true,
    summary:
      'Enable a disabled user. What ended stays ended: access tokens, app authorizations, and the bots of the user. An administrator is enabled only in a browser session with a recently entered password.',
    input: z.strictObject({ user_id: userId }),
    output: z.object({ user }),
    errors: ['forbidden', 'not_found', 'conflict'],
    example: { input: { user_id: 2 }, output: { user: bob } },
  }),
  list: get(['admin'], {
    summary: 'List all users and bots by id, disabled ones too.',
    input: z.strictObject({
      query: searchText.optional().meta({ description: 'only those whose name or display name contains the text' }),
      limit: pageLimit(limits.page),
      after_id: afterId,
    }),
    output: z.object({ users: z.array(user), has_more: hasMore }),
    example: { input: { query: 'bo' }, output: { users: [bob], has_more: false } },
  }),
  presence: get(['chats:read'], {
    summary:
      'See who is online. Users who share no chat with you, or hide their presence, are `offline`. The signal `presence_changed` tells what changes later.',
    input: z.strictObject({ user_ids: userIds(limits.page, 1) }),
    output: z.object({ presence: z.array(z.object({ user_id: userId, presence })) }),
    example: { input: { user_ids: [2] }, output: { presence: [{ user_id: 2, presence: 'offline' }] } },
  }),
  set_presence: post(['messages:write'], {
    summary:
      'Say whether you are at your client, or hide your presence from others. You are `online` while a client has a stream and is not `away`.',
    input: z.strictObject({
      presence: presence.exclude(['offline']).optional().meta({
        description: 'of the client with this token, until its stream ends',
      }),
      hidden: z
        .boolean()
        .optional()
        .meta({ description: 'whether others see you as offline; kept until you change it' }),
    }),
    output: z.object({ hidden: z.boolean() }),
    example: { input: { presence: 'away' }, output: { hidden: false } },
  }),
  quiet_hours: get(['chats:read'], {
    summary: 'Get your quiet hours: the time of the day when nothing notifies you.',
    input: z.strictObject({}),
    output: z.object({ quiet_hours: quietHours.nullable() }),
    errors: ['forbidden'],
    example: { input: {}, output: { quiet_hours: null } },
  }),
  set_quiet_hours: post(['chats:write'], {
    summary:
      'Set your quiet hours. Messages of that time do not notify you later either. Without any field you have none.',
    input: z
      .strictObject({ from: timeOfDay.optional(), to: timeOfDay.optional(), time_zone: timeZone.optional() })
      .refine(({ from, to, time_zone }) => !from === !to && !from === !time_zone, {
        path: ['from'],
        message: 'needs to and time_zone, and they need it',
      })
      .refine(({ from, to }) => from === undefined || from !== to, {
        path: ['to'],
        message: 'must be another time than from',
      }),
    output: z.object({ quiet_hours: quietHours.nullable() }),
    errors: ['forbidden'],
    example: {
      input: { from: '22:00', to: '07:00', time_zone: 'Europe/London' },
      output: { quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/London' } },
    },
  }),
});
