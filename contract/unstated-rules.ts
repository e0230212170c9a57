import type { OperationName } from './table.ts';

/**
 * Rules of inputs that JSON Schema cannot state, or that generated clients cannot read: lengths in bytes, the existence of
 * things, fields that depend on each other. The OpenAPI document has each in the description of its operation.
 * `npm run clients` accepts `validation_failed` for input that fits the schema only with these messages.
 */
export interface UnstatedRule {
  /** Absent if the rule is one of every text. */
  readonly of?: readonly OperationName[];
  readonly field?: string;
  /** The rule for readers. Absent if the description of the field has it. */
  readonly rule?: string;
  /** A part of the message of the error. */
  readonly message: string;
}

const creatingChats = ['messages.create_group', 'messages.create_channel'] as const;
const takingUrls = ['webhooks.register', 'webhooks.update', 'webhooks.test'] as const;

export const unstatedRules: readonly UnstatedRule[] = [
  { message: 'bytes of UTF-8' },
  { message: 'must not contain a lone surrogate' },
  // The pattern knows no format characters above U+FFFF.
  { message: 'must not be blank' },
  {
    of: ['messages.send_message'],
    field: 'content',
    rule: '`content` is required, unless a file is sent.',
    message: 'is required, unless a file is sent',
  },
  {
    of: ['messages.send_message'],
    field: 'file_id',
    rule: '`file` and `file_id` exclude each other.',
    message: 'cannot be given beside file',
  },
  {
    of: ['messages.send_message'],
    field: 'file_id',
    rule: '`file_id` is a file that you have uploaded.',
    message: 'is not a file that you have uploaded',
  },
  {
    of: ['messages.send_message'],
    field: 'file_ids',
    rule: '`file_ids` excludes `file` and `file_id`.',
    message: 'cannot be given beside file',
  },
  {
    of: ['messages.send_message'],
    field: 'file_ids',
    rule: '`file_ids` are files that you have uploaded.',
    message: 'are not files that you have uploaded',
  },
  {
    of: ['messages.send_message'],
    field: 'reply_to',
    rule: '`reply_to` is a message of the same chat.',
    message: 'is not a message of this chat',
  },
  {
    of: ['messages.send_message', 'files.upload', 'users.set_avatar'],
    field: 'file',
    rule: 'A file has at least one byte.',
    message: 'is empty',
  },
  {
    of: ['messages.send_message', 'files.upload', 'users.set_avatar'],
    field: 'file',
    rule: 'The file name in the form follows the same rules as `name` of `files.upload`.',
    message: 'its name must',
  },
  {
    of: ['users.set_avatar'],
    field: 'file',
    rule: '`file` is a picture in JPEG, PNG, WebP or GIF, of at most 24 million pixels, or 50 million in JPEG.',
    message: '',
  },
  {
    of: ['files.upload', 'users.set_avatar'],
    field: 'name',
    rule: '`name` is neither `.` nor `..`.',
    message: 'must be the name of a file',
  },
  {
    of: ['messages.edit_message'],
    field: 'content',
    rule: '`content` is empty only if the message has a file.',
    message: 'must not be blank',
  },
  {
    of: ['messages.get_messages'],
    field: 'around_id',
    rule: '`around_id` excludes `before_id`, `after_id` and `thread_id`.',
    message: 'cannot be given beside before_id, after_id or thread_id',
  },
  {
    of: ['messages.search_messages'],
    field: 'query',
    rule: '`query` contains a letter, a digit or an emoji.',
    message: 'must contain a letter, a digit or an emoji',
  },
  {
    of: ['messages.search_messages'],
    field: 'query',
    rule: 'The number of words in `query` is limited.',
    message: 'words',
  },
  {
    of: [...creatingChats, 'chats.add_participants'],
    field: 'participants',
    rule: 'All `participants` are users.',
    message: 'not a user',
  },
  {
    of: ['messages.create_direct'],
    field: 'user_id',
    rule: '`user_id` is another user.',
    message: 'is not a user',
  },
  { of: ['messages.create_direct'], field: 'user_id', message: 'is your own' },
  {
    of: ['chats.update'],
    field: 'visibility',
    rule: 'Only a channel can be `public`.',
    message: 'can be public for a channel only',
  },
  {
    of: ['chats.list'],
    field: 'after',
    rule: '`after`, `archived` and `pinned` go only with `order=activity`, and `after_id` only with `order=id`.',
    message: 'goes only with order',
  },
  { of: ['chats.list'], field: 'archived', message: 'goes only with order' },
  { of: ['chats.list'], field: 'pinned', message: 'goes only with order' },
  { of: ['chats.list'], field: 'after_id', message: 'goes only with order' },
  {
    of: ['chats.list'],
    field: 'scope',
    rule: '`scope=public` goes only with `order=id`.',
    message: 'must be mine by activity',
  },
  {
    of: ['chats.set_preferences'],
    field: 'muted_until',
    rule: '`muted_until` has a year of four digits in UTC too.',
    message: 'must be in the years 0000 to 9999 in UTC',
  },
  {
    of: ['users.get'],
    field: 'user_id',
    rule: 'Exactly one of `user_id` and `user_ids` is required.',
    message: 'or user_ids is required',
  },
  {
    of: ['users.create'],
    field: 'name',
    rule: 'Some values of `name` are reserved.',
    message: 'is reserved',
  },
  {
    of: ['users.create', 'users.update'],
    field: 'display_name',
    rule: '`display_name` has joiners and variation selectors only where a script or an emoji needs them.',
    message: 'must not contain invisible characters',
  },
  {
    of: ['users.create', 'users.update'],
    field: 'display_name',
    rule: '`display_name` does not look like the name of an administrator.',
    message: 'looks like the name of an administrator',
  },
  {
    of: ['users.create'],
    field: 'name',
    rule: '`name` does not look like the name of an administrator.',
    message: 'looks like the name of an administrator',
  },
  {
    of: ['push.subscribe'],
    field: 'endpoint',
    rule: '`endpoint` is an https URL without credentials, and its host is one that the server may reach.',
    message: '',
  },
  {
    of: ['push.subscribe'],
    field: 'p256dh',
    rule: '`p256dh` is a point of the curve P-256.',
    message: 'must be a point of P-256',
  },
  {
    of: ['users.set_quiet_hours'],
    field: 'from',
    rule: '`from`, `to` and `time_zone` go together, and `from` is another time than `to`.',
    message: 'needs to and time_zone',
  },
  { of: ['users.set_quiet_hours'], field: 'to', message: 'must be another time than from' },
  {
    of: ['users.update', 'users.set_quiet_hours'],
    field: 'time_zone',
    rule: '`time_zone` is in the IANA time zone database.',
    message: 'must be a time zone',
  },
  {
    of: ['users.create'],
    field: 'password',
    rule: '`password` is none of the most common passwords.',
    message: 'is one of the passwords that are tried first',
  },
  {
    of: ['apps.register'],
    field: 'name',
    rule: '`name` has joiners and variation selectors only where a script or an emoji needs them.',
    message: 'must not contain invisible characters',
  },
  {
    of: ['apps.register'],
    field: 'redirects',
    rule: 'Each of `redirects` is an https URL, a loopback URL, or a URL with a scheme of the app, without a fragment.',
    message: '',
  },
  {
    of: ['tokens.create'],
    field: 'scopes',
    rule: '`scopes` is required for a token that has only `admin`.',
    message: 'is required, because the token in use has only admin',
  },
  {
    of: takingUrls,
    field: 'url',
    rule: '`url` is an http or https URL without credentials, and its host is one that the server may reach.',
    message: '',
  },
  {
    of: ['webhooks.register', 'webhooks.rotate_secret', 'webhooks.test'],
    field: 'secret',
    rule: '`secret` does not begin with `whsec_`.',
    message: 'must not begin with whsec_',
  },
  {
    of: ['webhooks.register'],
    field: 'include_direct',
    rule: '`include_direct` needs `service_wide`.',
    message: 'goes only with service_wide',
  },
  {
    of: ['hooks.create'],
    field: 'name',
    rule: 'Exactly one of `name` and `user_id` is required.',
    message: 'is required, unless user_id is given',
  },
  { of: ['hooks.create'], field: 'name', message: 'cannot be given beside user_id' },
  {
    of: ['hooks.create'],
    field: 'name',
    rule: '`name` follows the same rules as `display_name` of `users.update`.',
    message: '',
  },
  {
    of: ['webhooks.test'],
    field: 'event_id',
    rule: '`event_id` excludes `event` and `url`.',
    message: 'cannot be given beside event',
  },
  { of: ['webhooks.test'], field: 'event_id', message: 'cannot be given beside url' },
  {
    of: ['webhooks.test'],
    field: 'webhook_id',
    rule: 'Either `webhook_id`, or `url` and `secret` are required. `webhook_id` with `url` signs with the secret of the webhook.',
    message: 'or url is required',
  },
  { of: ['webhooks.test'], field: 'secret', message: 'is required without webhook_id' },
  {
    of: ['webhooks.replay', 'webhooks.preview_replay'],
    field: 'from_event_id',
    rule: 'Exactly one of `from_event_id` and `since` is required.',
    message: 'exactly one of them',
  },
];
