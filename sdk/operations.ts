// Generated from the contract by `npm run docs`. Do not edit.

import type { Call, Download, OpenStream, PagedCall } from './methods.ts';

export interface App {
  /** Identifier of an OAuth app. */
  app_id: number;
  /** Identifies the app in OAuth requests. */
  client_id: string;
  name: string;
  /** The redirect URLs. */
  redirects: string[];
  /** Whether it has a secret. */
  confidential: boolean;
  /** The bot that the app acts as with its own credentials. */
  bot_id: number | null;
  /** Whether it was registered with an access token, and not confirmed by its owner in a browser since. */
  by_token: boolean;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
}

export interface Attempt {
  number: number;
  /** ISO 8601, UTC, milliseconds. */
  at: string;
  status: number | null;
  /** Why it failed, for people. */
  error: string | null;
  cause: 'status' | 'redirect' | 'timeout' | 'dns' | 'dns_unavailable' | 'refused' | 'unreachable' | 'reset' | 'tls' | 'not_http' | 'blocked_address' | 'cancelled' | 'other' | null;
  duration_ms: number;
  /** The first 4 KiB of the response, after the `Location` of a redirect; null if the first attempt succeeded. */
  answer: string | null;
}

export interface AuditEntry {
  /** Rises with time. */
  audit_id: number;
  /** ISO 8601, UTC, milliseconds. */
  at: string;
  /** What was done, such as `signed_in`. */
  act: string;
  /** Who did it; null for the operator and for unknown people. */
  user_id: number | null;
  /** The app with which it was done. */
  app_id: number | null;
  /** The IP address; null at the command line. */
  address: string | null;
  /** Facts that depend on `act`; never a secret or a text. */
  details: Record<string, unknown>;
}

export interface AuthorizedApp {
  /** Identifier of an OAuth app. */
  app_id: number;
  name: string;
  scopes: ('messages:read' | 'messages:write' | 'chats:read' | 'chats:write' | 'webhooks' | 'files' | 'apps' | 'admin')[];
  /** ISO 8601, UTC, milliseconds. */
  since: string;
  last_used_at: string | null;
}

export interface Chat {
  /** Identifier of a chat. */
  chat_id: number;
  type: 'direct' | 'group' | 'channel';
  visibility: 'public' | 'private';
  /** Null in a direct chat. */
  name: string | null;
  description: string;
  /** Identifier of a user. */
  created_by: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  participant_count: number;
  last_message_id: number | null;
  /** The newest message; null if you are not a participant. */
  last_message: LastMessage | null;
  /** The other side of a direct chat. */
  peer: Peer | null;
  /** The pinned messages, the newest pin first; none if you are not a participant. */
  pins: number[];
  /** Your role; null if you are not a participant. */
  role: 'owner' | 'admin' | 'member' | null;
  /** Your read marker: the last message that you have read; null if none. */
  last_read_id: number | null;
  /** Messages of others after your read marker, among the newest 100 of the chat. */
  unread_count: number;
  /** Messages of others after your read marker that mention you, and those that mention `@all`, among the newest 100 of each. */
  mention_count: number;
  /** Which messages notify you; clients act on it. */
  notify: 'all' | 'mentions' | 'none';
  /** No notifications until then; a time in the past has no effect. */
  muted_until: string | null;
  /** Whether you have archived the chat. */
  archived: boolean;
  /** Whether you keep the chat at the top of your list. */
  pinned: boolean;
}

export interface ChatUse {
  /** Identifier of a chat. */
  chat_id: number;
  type: 'direct' | 'group' | 'channel';
  visibility: 'public' | 'private';
  /** Null for a direct chat. */
  name: string | null;
  participant_count: number;
  /** Messages, up to 1,000, deleted ones included. */
  message_count: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Null without messages. */
  last_message_at: string | null;
}

export interface Delivery {
  /** Identifier of a delivery: one event for one webhook. */
  delivery_id: number;
  /** Identifier of a webhook. */
  webhook_id: number;
  /** Identifier of an event; rises in the order of commits. */
  event_id: number;
  event: string;
  chat_id: number | null;
  /** The replay it is part of. */
  replay_id: number | null;
  /** `pending`: not tried yet; `retrying`: failed so far, and will be retried; `delivered`: the endpoint responded with a 2xx; `failed`: failed on every attempt; `skipped`: not sent; `reason` says why. */
  state: 'pending' | 'retrying' | 'delivered' | 'failed' | 'skipped';
  reason: 'by_owner' | 'expired' | 'webhook_deleted' | 'access_revoked' | 'user_disabled' | null;
  attempt_count: number;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  /** The HTTP status of the last response. */
  last_status: number | null;
  /** The error of the last attempt, for people. */
  last_error: string | null;
  last_cause: 'status' | 'redirect' | 'timeout' | 'dns' | 'dns_unavailable' | 'refused' | 'unreachable' | 'reset' | 'tls' | 'not_http' | 'blocked_address' | 'cancelled' | 'other' | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
}

export interface DeliveryInFull {
  /** Identifier of a delivery: one event for one webhook. */
  delivery_id: number;
  /** Identifier of a webhook. */
  webhook_id: number;
  /** Identifier of an event; rises in the order of commits. */
  event_id: number;
  event: string;
  chat_id: number | null;
  /** The replay it is part of. */
  replay_id: number | null;
  /** `pending`: not tried yet; `retrying`: failed so far, and will be retried; `delivered`: the endpoint responded with a 2xx; `failed`: failed on every attempt; `skipped`: not sent; `reason` says why. */
  state: 'pending' | 'retrying' | 'delivered' | 'failed' | 'skipped';
  reason: 'by_owner' | 'expired' | 'webhook_deleted' | 'access_revoked' | 'user_disabled' | null;
  attempt_count: number;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  /** The HTTP status of the last response. */
  last_status: number | null;
  /** The error of the last attempt, for people. */
  last_error: string | null;
  last_cause: 'status' | 'redirect' | 'timeout' | 'dns' | 'dns_unavailable' | 'refused' | 'unreachable' | 'reset' | 'tls' | 'not_http' | 'blocked_address' | 'cancelled' | 'other' | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
  attempts: Attempt[];
  /** The exact body, which `X-Webhook-Signature` signs; null once the event has expired. */
  body: string | null;
  /** The exact text that `webhook-signature` of the last attempt signs. */
  signed_content: string | null;
  /** The headers of the last attempt as they were sent, though `User-Agent` has the version of now; null before the first one. Those of the signatures are left out if they cannot be computed again: the event has expired, the webhook was deleted, or its secret was rotated more than once since. */
  headers: Record<string, string> | null;
}

export interface FileInfo {
  /** Identifier of a file. */
  file_id: number;
  name: string;
  /** Found from the bytes. */
  mime_type: string;
  /** Bytes. */
  size: number;
  /** Of the bytes, in lowercase hex. */
  sha256: string;
  /** Of an upright image, in pixels. */
  width?: number | undefined;
  height?: number | undefined;
  /** Fetches the file with an access token; it never changes. */
  url: string;
  /** Fetches a small copy of an image; absent for other files and for images that are too large. */
  thumbnail_url?: string | undefined;
}

export interface Hook {
  /** Identifier of an incoming webhook. */
  hook_id: number;
  /** Identifier of a chat. */
  chat_id: number;
  /** The bot that it posts as. */
  bot: User;
  /** Identifier of a user. */
  created_by: number;
  /** False while its creator may not post in the chat. */
  active: boolean;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** To the minute. */
  last_used_at: string | null;
}

export interface Invitation {
  /** Identifier of an invitation. */
  invitation_id: number;
  note: string;
  /** Null if the operator created it on the command line. */
  created_by: number | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** ISO 8601, UTC, milliseconds. */
  expires_at: string;
}

export interface LastMessage {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** The author. */
  user_id: number;
  name: string;
  display_name: string;
  /** The first 200 characters; empty once the message is deleted. */
  content: string;
  /** The name of its file. */
  file: string | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
}

export interface LoggedEvent {
  /** Identifier of an event; rises in the order of commits. */
  event_id: number;
  event: string;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  data: Record<string, unknown>;
}

export interface Message {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** Identifier of a chat. */
  chat_id: number;
  /** Identifier of a user. */
  user_id: number;
  /** Empty if there is only a file, and once the message is deleted. */
  content: string;
  /** The participants whom the text mentions by `@name`; absent if there are none. */
  mentions?: number[] | undefined;
  /** True if the text mentions `@all`; absent otherwise. */
  mentions_all?: boolean | undefined;
  /** The first message of the thread; only of a reply. */
  thread_id?: number | undefined;
  reply_to: number | null;
  /** The file sent with the message, or the first of several. */
  file: FileInfo | null;
  /** All files, if there are several. */
  files?: FileInfo[] | undefined;
  reactions: Reaction[];
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  edited_at: string | null;
  deleted_at: string | null;
  /** Replies in its thread, without deleted ones; absent if none. */
  reply_count?: number | undefined;
  /** The newest of these replies. */
  last_reply_id?: number | undefined;
  /** ISO 8601, UTC, milliseconds. */
  last_reply_at?: string | undefined;
}

export interface MetricSample {
  /** The begin of the interval. */
  at: string;
  /** Messages that were sent. */
  messages: number;
  /** People with an open client, but for those who hide it; the most at one time. */
  people_online: number;
  /** Open event streams; the most at one time. */
  streams: number;
  /** Time from an event to its first attempt at a webhook, on average; null without any. */
  webhook_lag_ms: number | null;
  /** Deliveries to webhooks that wait, up to 100,000; the most at one time. */
  backlog: number;
  /** Free on the disk of the data folder; the least at one time. */
  disk_free_bytes: number;
  /** The size of that disk. */
  disk_total_bytes: number;
  requests: number;
  /** Responses with a status of 500 and above. */
  server_errors: number;
}

export interface Participant {
  /** Identifier of a user. */
  user_id: number;
  name: string;
  display_name: string;
  role: 'owner' | 'admin' | 'member';
  /** ISO 8601, UTC, milliseconds. */
  joined_at: string;
  /** The last message that they have read; null if none. */
  last_read_id: number | null;
}

export interface Peer {
  /** Identifier of a user. */
  user_id: number;
  kind: 'person' | 'bot';
  name: string;
  display_name: string;
}

export interface PersonUse {
  /** Identifier of a user. */
  user_id: number;
  name: string;
  disabled_at: string | null;
  /** The bytes of their files. */
  file_bytes: number;
  /** Messages sent and edited today, in UTC. */
  messages: number;
  /** Chats that they have created. */
  chats: number;
  webhooks: number;
  /** Bots that are not disabled. */
  bots: number;
}

export interface PushSubscription {
  /** Identifier of a push subscription. */
  subscription_id: number;
  /** The URL at the push service of the browser. */
  endpoint: string;
  /** Such as "Firefox on Windows"; null if it subscribed with an access token. */
  browser: string | null;
  /** Whether notifications contain the text of messages. */
  with_text: boolean;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
}

export interface QuietHours {
  /** Hours and minutes, such as `22:30`. */
  from: string;
  /** Hours and minutes; before `from`: on the next day. */
  to: string;
  /** A name of the IANA time zone database. */
  time_zone: string;
}

export interface Reaction {
  emoji: string;
  count: number;
  /** Whether the caller is among them. */
  reacted: boolean;
}

export interface Replay {
  /** Identifier of a replay. */
  replay_id: number;
  /** Identifier of a webhook. */
  webhook_id: number;
  /** `stopped` with its webhook, `cancelled` by its owner. */
  status: 'running' | 'done' | 'stopped' | 'cancelled';
  /** The states it is limited to; null: everything. */
  only: ('pending' | 'retrying' | 'delivered' | 'failed' | 'skipped')[] | null;
  /** Identifier of an event; rises in the order of commits. */
  from_event_id: number;
  /** The newest event when it was requested. */
  to_event_id: number;
  /** The last event that it has queued. */
  reached_event_id: number;
  /** Deliveries that are not settled yet. */
  open_count: number;
  delivered_count: number;
  failed_count: number;
  skipped_count: number;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  finished_at: string | null;
}

export interface Service {
  /** The name of this service. */
  name: string;
  /** The chat that new people join by themselves. */
  welcome_chat_id: number | null;
}

export interface ServiceStatus {
  version: string;
  /** When the server that responds was started. */
  started_at: string;
  database: 'sqlite' | 'postgres';
  database_bytes: number;
  /** Where files are stored. */
  files: 'data_folder' | 's3';
  /** The bytes of all files. */
  file_bytes: number;
  disk_free_bytes: number;
  disk_total_bytes: number;
  /** The last `parley backup` that the audit log knows. Backups made in another way are not known. */
  last_backup: {
    /** ISO 8601, UTC, milliseconds. */
    at: string;
    messages: number;
    files: number;
    bytes: number;
    encrypted: boolean;
  } | null;
  /** Whether the last scheduled backup (`PARLEY_BACKUP_EVERY`) of the server that responds failed, and none was made since. Its log says why: `background_job_failed`. */
  backup_failing: boolean;
  /** A command that makes a backup, for a shell on the machine of the server that responds, in its folder and with its settings. */
  backup_command: string;
}

export interface Setting {
  /** The environment variable. */
  name: string;
  summary: string;
  /** As in the environment; null if it is a secret that is set. */
  value: string | null;
  /** Empty if there is none. */
  default: string;
  secret: boolean;
  /** `file`: the server has stored it in the data folder. */
  source: 'default' | 'environment' | 'file';
}

export interface Thread {
  /** The first message. */
  message: Message;
  reply_count: number;
  /** Identifier of a message; rises within a chat. */
  last_reply_id: number;
  /** ISO 8601, UTC, milliseconds. */
  last_reply_at: string;
  /** Replies of others after your read marker of the chat, among the newest 100 of the thread. */
  unread_count: number;
}

export interface Token {
  /** Identifier of an access token. */
  token_id: number;
  name: string;
  scopes: ('messages:read' | 'messages:write' | 'chats:read' | 'chats:write' | 'webhooks' | 'files' | 'apps' | 'admin')[];
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

export interface TokenUse {
  /** Identifier of an access token. */
  token_id: number;
  /** The day in UTC. */
  day: string;
  requests: number;
}

export interface User {
  /** Identifier of a user. */
  user_id: number;
  kind: 'person' | 'bot';
  /** The person whose bot it is; null for a person. */
  owner_id: number | null;
  name: string;
  display_name: string;
  /** A line that the user writes about what they do; empty by default. */
  status_text: string;
  /** A name of the IANA time zone database. */
  time_zone: string | null;
  /** Fetches the picture with an access token; changes with the picture. */
  avatar_url: string | null;
  is_admin: boolean;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  disabled_at: string | null;
}

export interface Warning {
  /** The field of the request. */
  field: string;
  message: string;
}

export interface Webhook {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** The owner. */
  user_id: number;
  url: string;
  /** `*` stands for all. */
  events: string[];
  /** Names in `events` that Parley does not have yet. */
  unknown_events: string[];
  /** The one chat whose events it receives; null: all chats of its user. */
  chat_id: number | null;
  /** Whether it receives the events of every chat of the service. */
  service_wide: boolean;
  /** Whether that includes direct chats. */
  include_direct: boolean;
  /** `paused` by its owner, `disabled` by Parley. */
  status: 'active' | 'paused' | 'disabled';
  disabled_reason: 'gone' | 'unreachable' | 'access_revoked' | 'user_disabled' | null;
  /** Since when the endpoint does not respond. */
  down_since: string | null;
  /** When the endpoint is tried again after an outage. */
  next_attempt_at: string | null;
  /** Seconds since the oldest undelivered event; null if there is none. */
  oldest_undelivered_age: number | null;
  /** Events that expired before they were delivered. */
  expired_count: number;
  /** Until when deliveries are also signed with the secret before the last rotation. */
  previous_secret_until: string | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
}

export interface WebhookHealth {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** The owner. */
  user_id: number;
  url: string;
  /** `*` stands for all. */
  events: string[];
  /** Names in `events` that Parley does not have yet. */
  unknown_events: string[];
  /** The one chat whose events it receives; null: all chats of its user. */
  chat_id: number | null;
  /** Whether it receives the events of every chat of the service. */
  service_wide: boolean;
  /** Whether that includes direct chats. */
  include_direct: boolean;
  /** `paused` by its owner, `disabled` by Parley. */
  status: 'active' | 'paused' | 'disabled';
  disabled_reason: 'gone' | 'unreachable' | 'access_revoked' | 'user_disabled' | null;
  /** Since when the endpoint does not respond. */
  down_since: string | null;
  /** When the endpoint is tried again after an outage. */
  next_attempt_at: string | null;
  /** Seconds since the oldest undelivered event; null if there is none. */
  oldest_undelivered_age: number | null;
  /** Events that expired before they were delivered. */
  expired_count: number;
  /** Until when deliveries are also signed with the secret before the last rotation. */
  previous_secret_until: string | null;
  /** ISO 8601, UTC, milliseconds. */
  created_at: string;
  /** Deliveries of the events of the last 24 hours: the newest 1000 at most. */
  recent_count: number;
  /** How many of `recent_count` are `delivered`. */
  delivered_count: number;
  /** How many of `recent_count` are `failed`. */
  failed_count: number;
  /** Deliveries that are `retrying`: at most 1000, which stands for that many or more. */
  retrying_count: number;
  /** Events that are not settled: at most 1000, which stands for that many or more. */
  backlog_count: number;
  /** Since when the endpoint is down, or otherwise the first attempt at a delivery that is `retrying`. */
  failing_since: string | null;
  /** The delivery that failed last and is `retrying`, or otherwise the newest one that is `failed`. */
  last_failure: Delivery | null;
}

export interface SendMessageInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** The text, not blank; empty or absent only with a file; the limit is in bytes of UTF-8. */
  content?: string | undefined;
  /** The file, as a part of `multipart/form-data`: at most 2,147,483,648 bytes. */
  file?: File | Blob | undefined;
  /** A file that you have uploaded, instead of `file`. */
  file_id?: number | undefined;
  /** Files that you have uploaded, in their order, instead of `file`; repeats count once. */
  file_ids?: readonly number[] | undefined;
  /** A message of the same chat that this one replies to. */
  reply_to?: number | undefined;
}

export interface SendMessageOutput {
  message: Message;
}

export interface GetMessagesInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** Only the replies in the thread of this message, which may be a reply itself; without deleted ones. */
  thread_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** Only messages with a lower id. */
  before_id?: number | undefined;
  /** Only messages with a higher id, from the oldest on. */
  after_id?: number | undefined;
  /** The page with this message in the middle; alone. */
  around_id?: number | undefined;
}

export interface GetMessagesOutput {
  messages: Message[];
  /** Whether another page follows; around a message: on either side. */
  has_more: boolean;
}

export interface GetMessageInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
}

export interface GetMessageOutput {
  message: Message;
  /** A URL for people, which shows the message to participants of its chat. */
  link: string;
}

export interface EditMessageInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** The text, not blank; empty or absent only with a file; the limit is in bytes of UTF-8. */
  content: string;
}

export interface EditMessageOutput {
  message: Message;
}

export interface DeleteMessageInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
}

export interface DeleteMessageOutput {
  message: Message;
}

export interface SearchMessagesInput {
  /** The text to look for, without regard to case and accents. */
  query: string;
  /** Only in this chat. */
  chat_id?: number | undefined;
  /** Only messages with a lower id. */
  before_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
}

export interface SearchMessagesOutput {
  messages: Message[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface MentionsInput {
  /** Only in this chat. */
  chat_id?: number | undefined;
  /** Only messages with a lower id. */
  before_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
}

export interface MentionsOutput {
  messages: Message[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface ThreadsInput {
  /** Only threads with a lower `last_reply_id`. */
  before_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
}

export interface ThreadsOutput {
  threads: Thread[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface MarkReadInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** The last message read; the newest by default. */
  message_id?: number | undefined;
}

export interface MarkReadOutput {
  read: {
    /** Identifier of a chat. */
    chat_id: number;
    last_read_id: number | null;
    unread_count: number;
  };
}

export interface AddReactionInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** An emoji, or a short name such as `+1`. */
  emoji: string;
}

export interface AddReactionOutput {
  message: Message;
}

export interface RemoveReactionInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** An emoji, or a short name such as `+1`. */
  emoji: string;
}

export interface RemoveReactionOutput {
  message: Message;
}

export interface ReactionsInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
  /** An emoji, or a short name such as `+1`. */
  emoji: string;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface ReactionsOutput {
  users: User[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface PinInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
}

export interface PinOutput {
  chat: Chat;
}

export interface UnpinInput {
  /** Identifier of a message; rises within a chat. */
  message_id: number;
}

export interface UnpinOutput {
  chat: Chat;
}

export interface PinsInput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface PinsOutput {
  messages: Message[];
}

export interface CreateGroupInput {
  /** One line. */
  name: string;
  /** User ids; repeats count once. */
  participants?: readonly number[] | undefined;
  /** Free text. */
  description?: string | undefined;
}

export interface CreateGroupOutput {
  group: Chat;
}

export interface CreateChannelInput {
  /** One line. */
  name: string;
  /** Free text. */
  description?: string | undefined;
  /** Whether everyone can find and join it. */
  visibility?: 'public' | 'private' | undefined;
  /** User ids; repeats count once. */
  participants?: readonly number[] | undefined;
}

export interface CreateChannelOutput {
  channel: Chat;
}

export interface CreateDirectInput {
  /** Identifier of a user. */
  user_id: number;
}

export interface CreateDirectOutput {
  chat: Chat;
}

export interface ChatsListInput {
  /** Your chats, or all public channels. */
  scope?: 'mine' | 'public' | undefined;
  /** The text to look for, without regard to case and accents. */
  query?: string | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
  /** `activity`: your chats with the newest messages first, without those that you have archived. */
  order?: 'id' | 'activity' | undefined;
  /** The cursor of a page by activity: `next` of the page before. */
  after?: string | undefined;
  /** The archived chats instead, by activity. */
  archived?: boolean | undefined;
  /** Only the chats that you have pinned, by activity. */
  pinned?: boolean | undefined;
}

export interface ChatsListOutput {
  chats: Chat[];
  /** Whether another page follows. */
  has_more: boolean;
  /** The list has all events up to this one: follow the log after it. */
  event_id: number;
  /** By activity: `after` of the next page, which shows the same moment; null at the end. */
  next?: string | null | undefined;
}

export interface ChatsGetInput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface ChatsGetOutput {
  chat: Chat;
}

export interface ChatsUpdateInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** One line. */
  name?: string | undefined;
  /** Free text. */
  description?: string | undefined;
  /** Of a channel only. */
  visibility?: 'public' | 'private' | undefined;
}

export interface ChatsUpdateOutput {
  chat: Chat;
}

export interface ChatsSetPreferencesInput {
  /** Identifier of a chat. */
  chat_id: number;
  notify?: 'all' | 'mentions' | 'none' | undefined;
  /** ISO 8601 with `Z` or an offset; null, or a time in the past, ends a mute. */
  muted_until?: string | null | undefined;
  archived?: boolean | undefined;
  pinned?: boolean | undefined;
}

export interface ChatsSetPreferencesOutput {
  chat: Chat;
}

export interface ChatsParticipantsInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface ChatsParticipantsOutput {
  participants: Participant[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface ChatsAddParticipantsInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** User ids; repeats count once. */
  participants: readonly number[];
}

export interface ChatsAddParticipantsOutput {
  chat: Chat;
  /** The new participants. */
  added: number[];
}

export interface ChatsRemoveParticipantInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** Identifier of a user. */
  user_id: number;
}

export interface ChatsRemoveParticipantOutput {
  chat: Chat;
}

export interface ChatsSetRoleInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** Identifier of a user. */
  user_id: number;
  role: 'owner' | 'admin' | 'member';
}

export interface ChatsSetRoleOutput {
  participant: Participant;
}

export interface ChatsJoinInput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface ChatsJoinOutput {
  chat: Chat;
}

export interface ChatsLeaveInput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface ChatsLeaveOutput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface ChatsTypingInput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface ChatsTypingOutput {
  /** Identifier of a chat. */
  chat_id: number;
}

export interface WebhooksRegisterInput {
  /** The endpoint: http or https, without credentials. */
  url: string;
  /** Names of events, or `*` for all; unknown names are kept, with a warning. */
  events: readonly string[];
  /** Signs the deliveries; never shown again. */
  secret: string;
  /** Only events of this chat. */
  chat_id?: number | undefined;
  /** Events of every chat; for administrators with the scope `admin`. */
  service_wide?: boolean | undefined;
  /** With `service_wide`: of direct chats too. */
  include_direct?: boolean | undefined;
}

export interface WebhooksRegisterOutput {
  webhook: Webhook;
  /** Accepted input that is probably a mistake: unknown events, a short secret. */
  warnings: Warning[];
}

export interface WebhooksListInput {
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface WebhooksListOutput {
  webhooks: Webhook[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface WebhooksGetInput {
  /** Identifier of a webhook. */
  webhook_id: number;
}

export interface WebhooksGetOutput {
  webhook: Webhook;
}

export interface WebhooksHealthInput {
  /** Only this webhook. */
  webhook_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface WebhooksHealthOutput {
  webhooks: WebhookHealth[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface WebhooksUpdateInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** The endpoint: http or https, without credentials. */
  url?: string | undefined;
  /** Names of events, or `*` for all; unknown names are kept, with a warning. */
  events?: readonly string[] | undefined;
  status?: 'active' | 'paused' | undefined;
}

export interface WebhooksUpdateOutput {
  webhook: Webhook;
  /** Accepted input that is probably a mistake: unknown events, a short secret. */
  warnings: Warning[];
}

export interface WebhooksRotateSecretInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** Signs the deliveries; never shown again. */
  secret: string;
}

export interface WebhooksRotateSecretOutput {
  webhook: Webhook;
  /** Accepted input that is probably a mistake: unknown events, a short secret. */
  warnings: Warning[];
}

export interface WebhooksTestInput {
  /** Identifier of a webhook. */
  webhook_id?: number | undefined;
  /** The endpoint to test, instead of that of the webhook or without a webhook. */
  url?: string | undefined;
  /** Signs the test of a `url` without a webhook. */
  secret?: string | undefined;
  /** Send an example of this event; without it, a sample event named `test`. */
  event?: 'new_message' | 'message_edited' | 'message_deleted' | 'user_joined' | 'user_left' | 'group_created' | 'channel_created' | 'direct_created' | 'chat_updated' | 'role_changed' | 'user_updated' | 'reaction_added' | 'reaction_removed' | 'message_pinned' | 'message_unpinned' | 'preferences_changed' | 'webhook_disabled' | undefined;
  /** Send the exact body of this past event, of a chat that the webhook receives events of. */
  event_id?: number | undefined;
}

export interface WebhooksTestOutput {
  /** Whether the response was a 2xx. */
  delivered: boolean;
  attempt: Attempt;
  /** The exact body that was sent. */
  body: string;
}

export interface WebhooksDeliveriesInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** Only deliveries in this state. */
  state?: 'pending' | 'retrying' | 'delivered' | 'failed' | 'skipped' | undefined;
  /** Only of events of this name. */
  event?: string | undefined;
  /** Only of events of this chat. */
  chat_id?: number | undefined;
  /** Only those of this replay. */
  replay_id?: number | undefined;
  /** Only of events that happened at this time or later. */
  since?: string | undefined;
  /** Only of events that happened before this time. */
  until?: string | undefined;
  /** `next` of the page before. */
  before_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
}

export interface WebhooksDeliveriesOutput {
  deliveries: Delivery[];
  /** Whether there may be more; a page with a rare filter may be short or empty. */
  has_more: boolean;
  /** The cursor of the next page. */
  next: number | null;
}

export interface WebhooksDeliveryInput {
  /** Identifier of a delivery: one event for one webhook. */
  delivery_id: number;
}

export interface WebhooksDeliveryOutput {
  delivery: DeliveryInFull;
}

export interface WebhooksSkipInput {
  /** Identifier of a delivery: one event for one webhook. */
  delivery_id: number;
}

export interface WebhooksSkipOutput {
  delivery: Delivery;
}

export interface WebhooksRedeliverInput {
  /** Identifier of a delivery: one event for one webhook. */
  delivery_id: number;
}

export interface WebhooksRedeliverOutput {
  delivery: Delivery;
}

export interface WebhooksReplayInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** From this event on. */
  from_event_id?: number | undefined;
  /** From this time on; either this or `from_event_id`. */
  since?: string | undefined;
  /** Only failed or skipped deliveries. */
  only?: readonly ('failed' | 'skipped')[] | undefined;
}

export interface WebhooksReplayOutput {
  replay: Replay;
}

export interface WebhooksPreviewReplayInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** From this event on. */
  from_event_id?: number | undefined;
  /** From this time on; either this or `from_event_id`. */
  since?: string | undefined;
  /** Only failed or skipped deliveries. */
  only?: readonly ('failed' | 'skipped')[] | undefined;
}

export interface WebhooksPreviewReplayOutput {
  event_count: number;
  /** False if there are more: counting stops at 10,000. */
  is_exact: boolean;
  /** Where the replay would begin. */
  from_event_id: number;
  /** The newest event, where it would end. */
  to_event_id: number;
}

export interface WebhooksCancelReplayInput {
  /** Identifier of a replay. */
  replay_id: number;
}

export interface WebhooksCancelReplayOutput {
  replay: Replay;
}

export interface WebhooksReplaysInput {
  /** Identifier of a webhook. */
  webhook_id: number;
  /** Only replays with a lower id. */
  before_id?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
}

export interface WebhooksReplaysOutput {
  replays: Replay[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface WebhooksDeleteInput {
  /** Identifier of a webhook. */
  webhook_id: number;
}

export interface WebhooksDeleteOutput {
  /** Identifier of a webhook. */
  webhook_id: number;
}

export interface HooksCreateInput {
  /** Identifier of a chat. */
  chat_id: number;
  /** The display name of a new bot that it posts as. */
  name?: string | undefined;
  /** One of your bots that it posts as. */
  user_id?: number | undefined;
}

export interface HooksCreateOutput {
  hook: Hook;
  /** Takes posts from anybody who knows it. */
  url: string;
}

export interface HooksListInput {
  /** Only those of this chat, whoever created them. */
  chat_id?: number | undefined;
}

export interface HooksListOutput {
  hooks: Hook[];
}

export interface HooksRevokeInput {
  /** Identifier of an incoming webhook. */
  hook_id: number;
}

export interface HooksRevokeOutput {
  /** Identifier of an incoming webhook. */
  hook_id: number;
}

export interface EventsListInput {
  /** The cursor: `next` of the page before. */
  after?: number | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** Only of this chat. */
  chat_id?: number | undefined;
  /** Only events of these names. */
  events?: readonly ('new_message' | 'message_edited' | 'message_deleted' | 'user_joined' | 'user_left' | 'group_created' | 'channel_created' | 'direct_created' | 'chat_updated' | 'role_changed' | 'user_updated' | 'reaction_added' | 'reaction_removed' | 'message_pinned' | 'message_unpinned' | 'preferences_changed' | 'webhook_disabled')[] | undefined;
}

export interface EventsListOutput {
  events: LoggedEvent[];
  /** The cursor of the next page. */
  next: number;
  /** Whether another page follows. */
  has_more: boolean;
}

export interface EventsStreamInput {
  /** The cursor to start at, unless `Last-Event-ID` is sent; 0 is the oldest event. */
  after?: number | undefined;
  /** Only of this chat. */
  chat_id?: number | undefined;
  /** Only events and signals of these names. */
  events?: readonly ('new_message' | 'message_edited' | 'message_deleted' | 'user_joined' | 'user_left' | 'group_created' | 'channel_created' | 'direct_created' | 'chat_updated' | 'role_changed' | 'user_updated' | 'reaction_added' | 'reaction_removed' | 'message_pinned' | 'message_unpinned' | 'preferences_changed' | 'webhook_disabled' | 'message_read' | 'typing' | 'presence_changed' | 'deliveries_changed')[] | undefined;
}

export interface FilesUploadInput {
  /** The file, as a part of `multipart/form-data`: at most 2,147,483,648 bytes. */
  file?: File | Blob | undefined;
  /** Replaces the name in the form. */
  name?: string | undefined;
}

export interface FilesUploadOutput {
  file: FileInfo;
}

export interface FilesGetInput {
  /** Identifier of a file. */
  file_id: number;
}

export interface FilesGetOutput {
  file: FileInfo;
  link: {
    /** Fetches the file as you, without a token. */
    url: string;
    /** ISO 8601, UTC, milliseconds. */
    expires_at: string;
  };
}

export interface FilesDownloadInput {
  /** Identifier of a file. */
  file_id: number;
  /** Of a link: its user. */
  user_id?: number | undefined;
  /** Of a link: the token that made it. */
  token_id?: number | undefined;
  /** Of a link: when it expires, in seconds since 1970. */
  expires?: number | undefined;
  /** Of a link. */
  signature?: string | undefined;
}

export interface FilesThumbnailInput {
  /** Identifier of a file. */
  file_id: number;
  /** Of a link: its user. */
  user_id?: number | undefined;
  /** Of a link: the token that made it. */
  token_id?: number | undefined;
  /** Of a link: when it expires, in seconds since 1970. */
  expires?: number | undefined;
  /** Of a link. */
  signature?: string | undefined;
}

export type PushKeyInput = Record<never, never>;

export interface PushKeyOutput {
  /** VAPID key (RFC 8292): a point of P-256 in base64url. */
  public_key: string;
}

export interface PushSubscribeInput {
  /** `endpoint` of the `PushSubscription`: an https URL. */
  endpoint: string;
  /** `getKey("p256dh")` of the `PushSubscription`, in base64url. */
  p256dh: string;
  /** `getKey("auth")` of the `PushSubscription`, in base64url. */
  auth: string;
  /** Whether notifications contain the text of messages. */
  with_text?: boolean | undefined;
}

export interface PushSubscribeOutput {
  subscription: PushSubscription;
}

export type PushListInput = Record<never, never>;

export interface PushListOutput {
  subscriptions: PushSubscription[];
}

export interface PushUnsubscribeInput {
  /** Identifier of a push subscription. */
  subscription_id: number;
}

export interface PushUnsubscribeOutput {
  subscription: PushSubscription;
}

export type UsersMeInput = Record<never, never>;

export interface UsersMeOutput {
  user: User;
}

export interface UsersGetInput {
  /** Identifier of a user. */
  user_id?: number | undefined;
  /** User ids; those of nobody are left out. */
  user_ids?: readonly number[] | undefined;
}

export interface UsersGetOutput {
  /** With `user_id`. */
  user?: User | undefined;
  /** With `user_ids`, by id. */
  users?: User[] | undefined;
}

export interface UsersSearchInput {
  /** The text to look for, without regard to case and accents. */
  query?: string | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface UsersSearchOutput {
  users: User[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface UsersUpdateInput {
  /** One of your bots; yourself by default. */
  user_id?: number | undefined;
  /** One line without invisible characters. */
  display_name?: string | undefined;
  /** One line about what somebody does; may be empty. */
  status_text?: string | undefined;
  time_zone?: string | null | undefined;
}

export interface UsersUpdateOutput {
  user: User;
}

export interface UsersSetAvatarInput {
  /** The file, as a part of `multipart/form-data`: at most 10,485,760 bytes. */
  file?: File | Blob | undefined;
  /** Required if the body is the file itself. */
  name?: string | undefined;
  /** One of your bots; yourself by default. */
  user_id?: number | undefined;
}

export interface UsersSetAvatarOutput {
  user: User;
}

export interface UsersRemoveAvatarInput {
  /** One of your bots; yourself by default. */
  user_id?: number | undefined;
}

export interface UsersRemoveAvatarOutput {
  user: User;
}

export interface UsersAvatarInput {
  /** Identifier of a user. */
  user_id: number;
  /** Pixels on each side: 64 or 256. */
  size?: 64 | 256 | undefined;
  /** Of `avatar_url`: with it the picture may be cached without revalidation. */
  version?: string | undefined;
}

export interface UsersCreateInput {
  /** Unique without regard to case. */
  name: string;
  /** Shown to people; the name by default. */
  display_name?: string | undefined;
  /** An administrator of the service; true needs a browser session with a recently entered password. */
  is_admin?: boolean | undefined;
  /** For signing in; without one the user has only tokens. */
  password?: string | undefined;
}

export interface UsersCreateOutput {
  user: User;
}

export interface UsersDisableInput {
  /** Identifier of a user. */
  user_id: number;
}

export interface UsersDisableOutput {
  user: User;
}

export interface UsersEnableInput {
  /** Identifier of a user. */
  user_id: number;
}

export interface UsersEnableOutput {
  user: User;
}

export interface UsersListInput {
  /** Only those whose name or display name contains the text. */
  query?: string | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  after_id?: number | undefined;
}

export interface UsersListOutput {
  users: User[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface UsersPresenceInput {
  /** User ids; repeats count once. */
  user_ids: readonly number[];
}

export interface UsersPresenceOutput {
  presence: ({
    /** Identifier of a user. */
    user_id: number;
    presence: 'online' | 'away' | 'offline';
  })[];
}

export interface UsersSetPresenceInput {
  /** Of the client with this token, until its stream ends. */
  presence?: 'online' | 'away' | undefined;
  /** Whether others see you as offline; kept until you change it. */
  hidden?: boolean | undefined;
}

export interface UsersSetPresenceOutput {
  hidden: boolean;
}

export type UsersQuietHoursInput = Record<never, never>;

export interface UsersQuietHoursOutput {
  quiet_hours: QuietHours | null;
}

export interface UsersSetQuietHoursInput {
  /** Hours and minutes, such as `22:30`. */
  from?: string | undefined;
  /** Hours and minutes, such as `22:30`. */
  to?: string | undefined;
  /** A name of the IANA time zone database, such as `Europe/Berlin`. */
  time_zone?: string | undefined;
}

export interface UsersSetQuietHoursOutput {
  quiet_hours: QuietHours | null;
}

export type TokensListInput = Record<never, never>;

export interface TokensListOutput {
  tokens: Token[];
}

export interface TokensCreateInput {
  /** Distinguishes it from others. */
  name: string;
  /** Those of your token without `admin` by default; `admin` needs a browser session with a recently entered password. */
  scopes?: readonly ('messages:read' | 'messages:write' | 'chats:read' | 'chats:write' | 'webhooks' | 'files' | 'apps' | 'admin')[] | undefined;
  /** Seconds; never by default. */
  expires_in?: number | undefined;
}

export interface TokensCreateOutput {
  token: Token;
  /** The token itself. */
  access_token: string;
}

export type TokensUsageInput = Record<never, never>;

export interface TokensUsageOutput {
  /** Only days with requests. */
  usage: TokenUse[];
}

export interface TokensRevokeInput {
  /** Identifier of an access token. */
  token_id: number;
}

export interface TokensRevokeOutput {
  token: Token;
}

export type AppsListInput = Record<never, never>;

export interface AppsListOutput {
  apps: App[];
}

export interface AppsGetInput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export interface AppsGetOutput {
  app: App;
  /** Without its own bot. */
  people_count: number;
}

export interface AppsRegisterInput {
  /** People see it when they are asked to authorize the app. */
  name: string;
  /** Where people return after they decide, exactly as the app sends it: https, loopback, or a scheme. */
  redirects: readonly string[];
  /** Whether it can keep a secret: it runs on a server, not in a browser or on the device of its user. */
  confidential?: boolean | undefined;
}

export interface AppsRegisterOutput {
  app: App;
  /** The secret itself; null if the app keeps none. */
  client_secret: string | null;
}

export interface AppsUpdateInput {
  /** Identifier of an OAuth app. */
  app_id: number;
  /** People see it when they are asked to authorize the app. */
  name: string;
  /** Where people return after they decide, exactly as the app sends it: https, loopback, or a scheme. */
  redirects: readonly string[];
}

export interface AppsUpdateOutput {
  app: App;
}

export interface AppsReplaceSecretInput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export interface AppsReplaceSecretOutput {
  /** The secret itself, shown only once. */
  client_secret: string;
}

export type AppsAuthorizedInput = Record<never, never>;

export interface AppsAuthorizedOutput {
  apps: AuthorizedApp[];
}

export interface AppsRevokeAccessInput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export interface AppsRevokeAccessOutput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export interface AppsDeleteInput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export interface AppsDeleteOutput {
  /** Identifier of an OAuth app. */
  app_id: number;
}

export type BotsListInput = Record<never, never>;

export interface BotsListOutput {
  bots: User[];
}

export interface BotsCreateInput {
  /** Unique without regard to case. */
  name: string;
  /** The name by default. */
  display_name?: string | undefined;
}

export interface BotsCreateOutput {
  bot: User;
}

export interface BotsTokensInput {
  /** One of your bots. */
  user_id: number;
}

export interface BotsTokensOutput {
  tokens: Token[];
}

export interface BotsCreateTokenInput {
  /** One of your bots. */
  user_id: number;
  /** Distinguishes it from others. */
  name: string;
  scopes: readonly ('messages:read' | 'messages:write' | 'chats:read' | 'chats:write' | 'webhooks' | 'files')[];
  /** Seconds; never by default. */
  expires_in?: number | undefined;
}

export interface BotsCreateTokenOutput {
  token: Token;
  /** The token itself. */
  access_token: string;
}

export interface BotsRevokeTokenInput {
  /** One of your bots. */
  user_id: number;
  /** Identifier of an access token. */
  token_id: number;
}

export interface BotsRevokeTokenOutput {
  /** Identifier of an access token. */
  token_id: number;
}

export interface BotsDisableInput {
  /** One of your bots. */
  user_id: number;
}

export interface BotsDisableOutput {
  /** Identifier of a user. */
  user_id: number;
}

export interface InvitationsCreateInput {
  /** For administrators only; for example, who it is for. */
  note?: string | undefined;
}

export interface InvitationsCreateOutput {
  invitation: Invitation;
  /** The link, which works once. */
  url: string;
}

export type InvitationsListInput = Record<never, never>;

export interface InvitationsListOutput {
  invitations: Invitation[];
}

export interface InvitationsWithdrawInput {
  /** Identifier of an invitation. */
  invitation_id: number;
}

export interface InvitationsWithdrawOutput {
  /** Identifier of an invitation. */
  invitation_id: number;
}

export type ServiceGetInput = Record<never, never>;

export interface ServiceGetOutput {
  service: Service;
}

export interface ServiceUpdateInput {
  /** One line. */
  name?: string | undefined;
  /** A group or channel whose participants you manage; everybody who signs up from now on joins it. Null for none. */
  welcome_chat_id?: number | null | undefined;
}

export interface ServiceUpdateOutput {
  service: Service;
}

export type ServiceStatusInput = Record<never, never>;

export interface ServiceStatusOutput {
  status: ServiceStatus;
}

export interface ServiceHistoryInput {
  /** How far back. */
  hours?: number | undefined;
}

export interface ServiceHistoryOutput {
  /** The length of an interval: 1 up to 4 hours, else 5. */
  interval_minutes: number;
  samples: MetricSample[];
}

export interface ServiceChatsInput {
  /** Only chats whose name contains the text. */
  query?: string | undefined;
  type?: 'direct' | 'group' | 'channel' | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  before_id?: number | undefined;
}

export interface ServiceChatsOutput {
  chats: ChatUse[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface ServiceUseInput {
  /** Which use the order is by. */
  by?: 'file_bytes' | 'messages' | 'chats' | 'webhooks' | 'bots' | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
}

export interface ServiceUseOutput {
  people: PersonUse[];
  /** Whether another page follows. */
  has_more: boolean;
  /** `after` of the next page; null at the end. */
  next: string | null;
}

export interface ServiceAuditInput {
  /** Only entries of this act, such as `signed_in`. */
  act?: string | undefined;
  /** Only what this user did. */
  user_id?: number | undefined;
  /** The same, by name; only if `user_id` is absent. */
  user_name?: string | undefined;
  /** ISO 8601 with `Z` or an offset. */
  since?: string | undefined;
  /** ISO 8601 with `Z` or an offset; entries at this time are left out. */
  until?: string | undefined;
  /** Rows in a page at most. */
  limit?: number | undefined;
  /** The last id of the page before. */
  before_id?: number | undefined;
}

export interface ServiceAuditOutput {
  entries: AuditEntry[];
  /** The users that the entries name by id, as they are called now. */
  users: {
    /** Identifier of a user. */
    user_id: number;
    name: string;
  }[];
  /** The same of apps. */
  apps: {
    app_id: number;
    name: string;
  }[];
  /** Whether another page follows. */
  has_more: boolean;
}

export interface ServiceSettingsInput {
  /** Only this one. */
  name?: string | undefined;
}

export interface ServiceSettingsOutput {
  settings: Setting[];
}

/** The input and the output of each operation. */
export interface Operations {
  'messages.send_message': { input: SendMessageInput; output: SendMessageOutput };
  'messages.get_messages': { input: GetMessagesInput; output: GetMessagesOutput };
  'messages.get_message': { input: GetMessageInput; output: GetMessageOutput };
  'messages.edit_message': { input: EditMessageInput; output: EditMessageOutput };
  'messages.delete_message': { input: DeleteMessageInput; output: DeleteMessageOutput };
  'messages.search_messages': { input: SearchMessagesInput; output: SearchMessagesOutput };
  'messages.mentions': { input: MentionsInput; output: MentionsOutput };
  'messages.threads': { input: ThreadsInput; output: ThreadsOutput };
  'messages.mark_read': { input: MarkReadInput; output: MarkReadOutput };
  'messages.add_reaction': { input: AddReactionInput; output: AddReactionOutput };
  'messages.remove_reaction': { input: RemoveReactionInput; output: RemoveReactionOutput };
  'messages.reactions': { input: ReactionsInput; output: ReactionsOutput };
  'messages.pin': { input: PinInput; output: PinOutput };
  'messages.unpin': { input: UnpinInput; output: UnpinOutput };
  'messages.pins': { input: PinsInput; output: PinsOutput };
  'messages.create_group': { input: CreateGroupInput; output: CreateGroupOutput };
  'messages.create_channel': { input: CreateChannelInput; output: CreateChannelOutput };
  'messages.create_direct': { input: CreateDirectInput; output: CreateDirectOutput };
  'chats.list': { input: ChatsListInput; output: ChatsListOutput };
  'chats.get': { input: ChatsGetInput; output: ChatsGetOutput };
  'chats.update': { input: ChatsUpdateInput; output: ChatsUpdateOutput };
  'chats.set_preferences': { input: ChatsSetPreferencesInput; output: ChatsSetPreferencesOutput };
  'chats.participants': { input: ChatsParticipantsInput; output: ChatsParticipantsOutput };
  'chats.add_participants': { input: ChatsAddParticipantsInput; output: ChatsAddParticipantsOutput };
  'chats.remove_participant': { input: ChatsRemoveParticipantInput; output: ChatsRemoveParticipantOutput };
  'chats.set_role': { input: ChatsSetRoleInput; output: ChatsSetRoleOutput };
  'chats.join': { input: ChatsJoinInput; output: ChatsJoinOutput };
  'chats.leave': { input: ChatsLeaveInput; output: ChatsLeaveOutput };
  'chats.typing': { input: ChatsTypingInput; output: ChatsTypingOutput };
  'webhooks.register': { input: WebhooksRegisterInput; output: WebhooksRegisterOutput };
  'webhooks.list': { input: WebhooksListInput; output: WebhooksListOutput };
  'webhooks.get': { input: WebhooksGetInput; output: WebhooksGetOutput };
  'webhooks.health': { input: WebhooksHealthInput; output: WebhooksHealthOutput };
  'webhooks.update': { input: WebhooksUpdateInput; output: WebhooksUpdateOutput };
  'webhooks.rotate_secret': { input: WebhooksRotateSecretInput; output: WebhooksRotateSecretOutput };
  'webhooks.test': { input: WebhooksTestInput; output: WebhooksTestOutput };
  'webhooks.deliveries': { input: WebhooksDeliveriesInput; output: WebhooksDeliveriesOutput };
  'webhooks.delivery': { input: WebhooksDeliveryInput; output: WebhooksDeliveryOutput };
  'webhooks.skip': { input: WebhooksSkipInput; output: WebhooksSkipOutput };
  'webhooks.redeliver': { input: WebhooksRedeliverInput; output: WebhooksRedeliverOutput };
  'webhooks.replay': { input: WebhooksReplayInput; output: WebhooksReplayOutput };
  'webhooks.preview_replay': { input: WebhooksPreviewReplayInput; output: WebhooksPreviewReplayOutput };
  'webhooks.cancel_replay': { input: WebhooksCancelReplayInput; output: WebhooksCancelReplayOutput };
  'webhooks.replays': { input: WebhooksReplaysInput; output: WebhooksReplaysOutput };
  'webhooks.delete': { input: WebhooksDeleteInput; output: WebhooksDeleteOutput };
  'hooks.create': { input: HooksCreateInput; output: HooksCreateOutput };
  'hooks.list': { input: HooksListInput; output: HooksListOutput };
  'hooks.revoke': { input: HooksRevokeInput; output: HooksRevokeOutput };
  'events.list': { input: EventsListInput; output: EventsListOutput };
  'events.stream': { input: EventsStreamInput; output: Response };
  'files.upload': { input: FilesUploadInput; output: FilesUploadOutput };
  'files.get': { input: FilesGetInput; output: FilesGetOutput };
  'files.download': { input: FilesDownloadInput; output: Response };
  'files.thumbnail': { input: FilesThumbnailInput; output: Response };
  'push.key': { input: PushKeyInput; output: PushKeyOutput };
  'push.subscribe': { input: PushSubscribeInput; output: PushSubscribeOutput };
  'push.list': { input: PushListInput; output: PushListOutput };
  'push.unsubscribe': { input: PushUnsubscribeInput; output: PushUnsubscribeOutput };
  'users.me': { input: UsersMeInput; output: UsersMeOutput };
  'users.get': { input: UsersGetInput; output: UsersGetOutput };
  'users.search': { input: UsersSearchInput; output: UsersSearchOutput };
  'users.update': { input: UsersUpdateInput; output: UsersUpdateOutput };
  'users.set_avatar': { input: UsersSetAvatarInput; output: UsersSetAvatarOutput };
  'users.remove_avatar': { input: UsersRemoveAvatarInput; output: UsersRemoveAvatarOutput };
  'users.avatar': { input: UsersAvatarInput; output: Response };
  'users.create': { input: UsersCreateInput; output: UsersCreateOutput };
  'users.disable': { input: UsersDisableInput; output: UsersDisableOutput };
  'users.enable': { input: UsersEnableInput; output: UsersEnableOutput };
  'users.list': { input: UsersListInput; output: UsersListOutput };
  'users.presence': { input: UsersPresenceInput; output: UsersPresenceOutput };
  'users.set_presence': { input: UsersSetPresenceInput; output: UsersSetPresenceOutput };
  'users.quiet_hours': { input: UsersQuietHoursInput; output: UsersQuietHoursOutput };
  'users.set_quiet_hours': { input: UsersSetQuietHoursInput; output: UsersSetQuietHoursOutput };
  'tokens.list': { input: TokensListInput; output: TokensListOutput };
  'tokens.create': { input: TokensCreateInput; output: TokensCreateOutput };
  'tokens.usage': { input: TokensUsageInput; output: TokensUsageOutput };
  'tokens.revoke': { input: TokensRevokeInput; output: TokensRevokeOutput };
  'apps.list': { input: AppsListInput; output: AppsListOutput };
  'apps.get': { input: AppsGetInput; output: AppsGetOutput };
  'apps.register': { input: AppsRegisterInput; output: AppsRegisterOutput };
  'apps.update': { input: AppsUpdateInput; output: AppsUpdateOutput };
  'apps.replace_secret': { input: AppsReplaceSecretInput; output: AppsReplaceSecretOutput };
  'apps.authorized': { input: AppsAuthorizedInput; output: AppsAuthorizedOutput };
  'apps.revoke_access': { input: AppsRevokeAccessInput; output: AppsRevokeAccessOutput };
  'apps.delete': { input: AppsDeleteInput; output: AppsDeleteOutput };
  'bots.list': { input: BotsListInput; output: BotsListOutput };
  'bots.create': { input: BotsCreateInput; output: BotsCreateOutput };
  'bots.tokens': { input: BotsTokensInput; output: BotsTokensOutput };
  'bots.create_token': { input: BotsCreateTokenInput; output: BotsCreateTokenOutput };
  'bots.revoke_token': { input: BotsRevokeTokenInput; output: BotsRevokeTokenOutput };
  'bots.disable': { input: BotsDisableInput; output: BotsDisableOutput };
  'invitations.create': { input: InvitationsCreateInput; output: InvitationsCreateOutput };
  'invitations.list': { input: InvitationsListInput; output: InvitationsListOutput };
  'invitations.withdraw': { input: InvitationsWithdrawInput; output: InvitationsWithdrawOutput };
  'service.get': { input: ServiceGetInput; output: ServiceGetOutput };
  'service.update': { input: ServiceUpdateInput; output: ServiceUpdateOutput };
  'service.status': { input: ServiceStatusInput; output: ServiceStatusOutput };
  'service.history': { input: ServiceHistoryInput; output: ServiceHistoryOutput };
  'service.chats': { input: ServiceChatsInput; output: ServiceChatsOutput };
  'service.use': { input: ServiceUseInput; output: ServiceUseOutput };
  'service.audit': { input: ServiceAuditInput; output: ServiceAuditOutput };
  'service.settings': { input: ServiceSettingsInput; output: ServiceSettingsOutput };
}

export interface MessagesMethods {
  /** Send a text, files, or both into a chat. A file is a part of `multipart/form-data`, or was uploaded before and has a `file_id`; it needs the scope `files` too. Several files are uploaded before. */
  readonly send: Call<'messages.send_message'>;
  /** List the messages of a chat, or of a thread, in ascending order: the newest page, the page before `before_id`, the page after `after_id` (0 starts at the oldest), or the page around `around_id`. */
  readonly list: PagedCall<'messages.get_messages'>;
  /** Fetch one message, and the link to it. */
  readonly get: Call<'messages.get_message'>;
  /** Change the text of a message of your own. */
  readonly edit: Call<'messages.edit_message'>;
  /** Delete a message: your own, or any in a group or channel that you administer. A tombstone stays. */
  readonly delete: Call<'messages.delete_message'>;
  /** Find messages in your chats, newest first: every word must occur, and the last may be the start of a word. A new message can usually be found within a second. */
  readonly search: PagedCall<'messages.search_messages'>;
  /** List the messages of others that mention you by `@name` or `@all`, newest first, in the chats that you are in. */
  readonly mentions: PagedCall<'messages.mentions'>;
  /** List the threads in which you have written, the one with the newest reply first, in the chats that you are in. */
  readonly threads: PagedCall<'messages.threads'>;
  /** Move your read marker up to a message, or to the newest one. It never moves back. */
  readonly markRead: Call<'messages.mark_read'>;
  /** React to a message. */
  readonly addReaction: Call<'messages.add_reaction'>;
  /** Take your reaction back. */
  readonly removeReaction: Call<'messages.remove_reaction'>;
  /** List the users who reacted to a message with an emoji, by user id. */
  readonly reactions: PagedCall<'messages.reactions'>;
  /** Pin a message in its chat, for all participants. Those who may post may pin. */
  readonly pin: Call<'messages.pin'>;
  /** Unpin a message. */
  readonly unpin: Call<'messages.unpin'>;
  /** List the pinned messages of a chat, the newest pin first. */
  readonly pins: Call<'messages.pins'>;
  /** Send a text, files, or both into a chat. A file is a part of `multipart/form-data`, or was uploaded before and has a `file_id`; it needs the scope `files` too. Several files are uploaded before. */
  readonly send_message: Call<'messages.send_message'>;
  /** List the messages of a chat, or of a thread, in ascending order: the newest page, the page before `before_id`, the page after `after_id` (0 starts at the oldest), or the page around `around_id`. */
  readonly get_messages: PagedCall<'messages.get_messages'>;
  /** Fetch one message, and the link to it. */
  readonly get_message: Call<'messages.get_message'>;
  /** Change the text of a message of your own. */
  readonly edit_message: Call<'messages.edit_message'>;
  /** Delete a message: your own, or any in a group or channel that you administer. A tombstone stays. */
  readonly delete_message: Call<'messages.delete_message'>;
  /** Find messages in your chats, newest first: every word must occur, and the last may be the start of a word. A new message can usually be found within a second. */
  readonly search_messages: PagedCall<'messages.search_messages'>;
  /** Move your read marker up to a message, or to the newest one. It never moves back. */
  readonly mark_read: Call<'messages.mark_read'>;
  /** React to a message. */
  readonly add_reaction: Call<'messages.add_reaction'>;
  /** Take your reaction back. */
  readonly remove_reaction: Call<'messages.remove_reaction'>;
  /** Create a group with the given participants, or with none; you become its owner. */
  readonly create_group: Call<'messages.create_group'>;
  /** Create a channel: its owner and admins post, everyone in it reads, anyone may join a public one. */
  readonly create_channel: Call<'messages.create_channel'>;
  /** Open the direct chat with a user. It is the same chat for both, however often it is opened. */
  readonly create_direct: Call<'messages.create_direct'>;
}

export interface ChatsMethods {
  /** List your chats, or the public channels that anyone may join; `query` narrows by name. By `id` pages follow each other with `after_id`, by `activity` with `after`. */
  readonly list: PagedCall<'chats.list'>;
  /** Fetch one chat. */
  readonly get: Call<'chats.get'>;
  /** Change the name, description or, of a channel, the visibility. */
  readonly update: Call<'chats.update'>;
  /** Set your own preferences for a chat: notifications, mute, archive, pin. Nobody else sees them. */
  readonly setPreferences: Call<'chats.set_preferences'>;
  /** Create a group with the given participants, or with none; you become its owner. */
  readonly createGroup: Call<'messages.create_group'>;
  /** Create a channel: its owner and admins post, everyone in it reads, anyone may join a public one. */
  readonly createChannel: Call<'messages.create_channel'>;
  /** Open the direct chat with a user. It is the same chat for both, however often it is opened. */
  readonly createDirect: Call<'messages.create_direct'>;
  /** List the participants of a chat, by user id. */
  readonly participants: PagedCall<'chats.participants'>;
  /** Add users to a group or channel. Those who are already in it keep their roles. */
  readonly addParticipants: Call<'chats.add_participants'>;
  /** Remove a user from a group or channel. */
  readonly removeParticipant: Call<'chats.remove_participant'>;
  /** Make a participant owner, admin or member. A chat keeps at least one owner. */
  readonly setRole: Call<'chats.set_role'>;
  /** Join a public channel. */
  readonly join: Call<'chats.join'>;
  /** Leave a group or channel. The last owner must make another participant owner first. */
  readonly leave: Call<'chats.leave'>;
  /** Show the others that you are writing a message: their streams get the signal `typing`. Call it while you type; it is sent at most once in 3 seconds, and not in chats of more than 100 participants. */
  readonly typing: Call<'chats.typing'>;
  /** Set your own preferences for a chat: notifications, mute, archive, pin. Nobody else sees them. */
  readonly set_preferences: Call<'chats.set_preferences'>;
  /** Add users to a group or channel. Those who are already in it keep their roles. */
  readonly add_participants: Call<'chats.add_participants'>;
  /** Remove a user from a group or channel. */
  readonly remove_participant: Call<'chats.remove_participant'>;
  /** Make a participant owner, admin or member. A chat keeps at least one owner. */
  readonly set_role: Call<'chats.set_role'>;
}

export interface WebhooksMethods {
  /** Register an endpoint that receives new events of your chats by POST: signed, and in order for each chat. It ends with the access token that registered it. */
  readonly register: Call<'webhooks.register'>;
  /** List your webhooks. */
  readonly list: PagedCall<'webhooks.list'>;
  /** Get one of your webhooks. */
  readonly get: Call<'webhooks.get'>;
  /** Get your webhooks with what they delivered lately, what waits, and what failed last. Service-wide ones need the scope `admin`. */
  readonly health: PagedCall<'webhooks.health'>;
  /** Change the endpoint or the events of a webhook, pause it, or make it active again. Events that it missed while paused are then delivered in order. */
  readonly update: Call<'webhooks.update'>;
  /** Sign with another secret. For 24 hours `webhook-signature` also has a signature with the old one. */
  readonly rotateSecret: Call<'webhooks.rotate_secret'>;
  /** Send a test now and return the response: to a webhook, whatever its status, or to a URL that is not registered yet. A person and their bots test 10 such URLs a minute. The id of a test is not an event id. */
  readonly test: Call<'webhooks.test'>;
  /** List the deliveries of a webhook, those of the newest events first. Pass `next` as `before_id` to continue. */
  readonly deliveries: PagedCall<'webhooks.deliveries'>;
  /** Get one delivery with its attempts, the exact body and headers, and the exact bytes that were signed. */
  readonly delivery: Call<'webhooks.delivery'>;
  /** Skip a delivery that is not settled, so that the next one of its chat is sent. */
  readonly skip: Call<'webhooks.skip'>;
  /** Retry a delivery now. An open one is due at once, in its turn. A settled one is sent once more, and the response has the result. */
  readonly redeliver: Call<'webhooks.redeliver'>;
  /** Send past events again, in order, beside new ones and marked `X-Webhook-Replay`. It continues after a restart. */
  readonly replay: Call<'webhooks.replay'>;
  /** Count the events that `replay` would send with the same input, without sending any. */
  readonly previewReplay: Call<'webhooks.preview_replay'>;
  /** Cancel a replay. Its open deliveries are skipped. One that has ended stays as it is. */
  readonly cancelReplay: Call<'webhooks.cancel_replay'>;
  /** List the replays of a webhook with their progress, the newest first. */
  readonly replays: PagedCall<'webhooks.replays'>;
  /** Delete a webhook. Open deliveries are skipped. Its deliveries stay readable until they expire. */
  readonly delete: Call<'webhooks.delete'>;
  /** Sign with another secret. For 24 hours `webhook-signature` also has a signature with the old one. */
  readonly rotate_secret: Call<'webhooks.rotate_secret'>;
  /** Count the events that `replay` would send with the same input, without sending any. */
  readonly preview_replay: Call<'webhooks.preview_replay'>;
  /** Cancel a replay. Its open deliveries are skipped. One that has ended stays as it is. */
  readonly cancel_replay: Call<'webhooks.cancel_replay'>;
}

export interface HooksMethods {
  /** Create an incoming webhook of a group or channel in which you may post. Its URL is a secret, and is shown only once. It works while you may post in the chat. */
  readonly create: Call<'hooks.create'>;
  /** List the incoming webhooks of a chat that you are in, or yours in all chats. Their URLs are never shown again. */
  readonly list: Call<'hooks.list'>;
  /** Revoke an incoming webhook, at once: one of yours, or any of a chat whose participants you manage. A bot that was created for it is disabled with the last of its webhooks. */
  readonly revoke: Call<'hooks.revoke'>;
}

export interface EventsMethods {
  /** Read the events of your chats in order. Pass `next` as `after` to continue; 0 starts at the oldest event. */
  readonly list: PagedCall<'events.list'>;
  /** Follow the events of your chats as they happen, as server-sent events: `id` is the cursor, and `data` the same body that webhooks receive. Without a cursor it starts with new events. A client that reconnects sends its cursor in `Last-Event-ID` and misses nothing. Signals such as `message_read` have no `id` and are not sent again. */
  readonly stream: OpenStream<'events.stream'>;
}

export interface FilesMethods {
  /** Upload a file, to be sent later by its `file_id`. The body is a form with the part `file`, or the bytes themselves with `name` in the query. A file that no message has is removed after a day. Resumable uploads use the tus protocol at `{base_url}/uploads`. */
  readonly upload: Call<'files.upload'>;
  /** Get a file that you have uploaded, or that was sent to one of your chats, with a link that fetches it without a token for five minutes. */
  readonly get: Call<'files.get'>;
  /** Fetch the bytes of a file. `Range` and conditional requests are supported. A signed link replaces a token. */
  readonly download: Download<'files.download'>;
  /** Fetch a small copy of an image: a WebP of at most 400 pixels on each side, without metadata. A signed link to the file replaces a token. */
  readonly thumbnail: Download<'files.thumbnail'>;
}

export interface PushMethods {
  /** Get the public key of this server, with which a browser subscribes (`applicationServerKey`). */
  readonly key: Call<'push.key'>;
  /** Register a Web Push subscription of a browser. The same `endpoint` replaces the one before. It ends with the session or access token of this call, and when the push service says that it is gone. */
  readonly subscribe: Call<'push.subscribe'>;
  /** List your push subscriptions. */
  readonly list: Call<'push.list'>;
  /** Delete one of your push subscriptions. */
  readonly unsubscribe: Call<'push.unsubscribe'>;
}

export interface UsersMethods {
  /** Get the owner of the access token. */
  readonly me: Call<'users.me'>;
  /** Fetch one user with `user_id`, or many with `user_ids`. */
  readonly get: Call<'users.get'>;
  /** Find users whose name or display name contains the text. */
  readonly search: PagedCall<'users.search'>;
  /** Change your profile, or that of one of your bots. Fields that are left out stay as they are. */
  readonly update: Call<'users.update'>;
  /** Set your picture, or that of one of your bots: the middle of a JPEG, PNG, WebP or GIF. The body is a form with the part `file`, or the bytes themselves with `name` in the query. Only two small square copies are stored, without metadata. */
  readonly setAvatar: Call<'users.set_avatar'>;
  /** Remove your picture, or that of one of your bots. */
  readonly removeAvatar: Call<'users.remove_avatar'>;
  /** Fetch the picture of a user, as WebP. */
  readonly avatar: Download<'users.avatar'>;
  /** Create a user. */
  readonly create: Call<'users.create'>;
  /** Disable a user: all access tokens end at once; messages stay; chats that only this user owned get another owner. */
  readonly disable: Call<'users.disable'>;
  /** Enable a disabled user. What ended stays ended: access tokens, app authorizations, and the bots of the user. An administrator is enabled only in a browser session with a recently entered password. */
  readonly enable: Call<'users.enable'>;
  /** List all users and bots by id, disabled ones too. */
  readonly list: PagedCall<'users.list'>;
  /** See who is online. Users who share no chat with you, or hide their presence, are `offline`. The signal `presence_changed` tells what changes later. */
  readonly presence: Call<'users.presence'>;
  /** Say whether you are at your client, or hide your presence from others. You are `online` while a client has a stream and is not `away`. */
  readonly setPresence: Call<'users.set_presence'>;
  /** Get your quiet hours: the time of the day when nothing notifies you. */
  readonly quietHours: Call<'users.quiet_hours'>;
  /** Set your quiet hours. Messages of that time do not notify you later either. Without any field you have none. */
  readonly setQuietHours: Call<'users.set_quiet_hours'>;
  /** Set your picture, or that of one of your bots: the middle of a JPEG, PNG, WebP or GIF. The body is a form with the part `file`, or the bytes themselves with `name` in the query. Only two small square copies are stored, without metadata. */
  readonly set_avatar: Call<'users.set_avatar'>;
  /** Remove your picture, or that of one of your bots. */
  readonly remove_avatar: Call<'users.remove_avatar'>;
  /** Say whether you are at your client, or hide your presence from others. You are `online` while a client has a stream and is not `away`. */
  readonly set_presence: Call<'users.set_presence'>;
  /** Get your quiet hours: the time of the day when nothing notifies you. */
  readonly quiet_hours: Call<'users.quiet_hours'>;
  /** Set your quiet hours. Messages of that time do not notify you later either. Without any field you have none. */
  readonly set_quiet_hours: Call<'users.set_quiet_hours'>;
}

export interface TokensMethods {
  /** List your access tokens. The tokens themselves are never shown again. */
  readonly list: Call<'tokens.list'>;
  /** Create an access token that can do no more than the one you use, and ends with it. It is shown only once. */
  readonly create: Call<'tokens.create'>;
  /** Count the requests of the last 30 days with your access tokens and with those of your bots, by day. */
  readonly usage: Call<'tokens.usage'>;
  /** Revoke one of your access tokens and those that it created, at once. A token cannot revoke one that can do more than itself. */
  readonly revoke: Call<'tokens.revoke'>;
}

export interface AppsMethods {
  /** List your OAuth apps. Their secrets are never shown again. */
  readonly list: Call<'apps.list'>;
  /** Get one of your OAuth apps, and how many people have authorized it. */
  readonly get: Call<'apps.get'>;
  /** Register an OAuth app. It has only the access that people grant to it. A secret is shown only once. The app gets a bot only if you register it in a browser. */
  readonly register: Call<'apps.register'>;
  /** Change the name and the redirect URLs of an app. This also confirms one that an access token registered. */
  readonly update: Call<'apps.update'>;
  /** Replace the secret of an app. The old one stops working at once, and so do the access tokens and webhooks of its bot. */
  readonly replaceSecret: Call<'apps.replace_secret'>;
  /** Delete one of your OAuth apps. It loses all access at once, for everyone. Its bot stays. */
  readonly delete: Call<'apps.delete'>;
  /** List the apps that you have authorized to act for you. */
  readonly authorized: Call<'apps.authorized'>;
  /** End the access of an app that you have authorized, if it has any. Its webhooks for you stop. */
  readonly revokeAccess: Call<'apps.revoke_access'>;
  /** Replace the secret of an app. The old one stops working at once, and so do the access tokens and webhooks of its bot. */
  readonly replace_secret: Call<'apps.replace_secret'>;
  /** End the access of an app that you have authorized, if it has any. Its webhooks for you stop. */
  readonly revoke_access: Call<'apps.revoke_access'>;
}

export interface BotsMethods {
  /** List your bots. */
  readonly list: Call<'bots.list'>;
  /** Create a bot: an automated account with access tokens of its own, for which you are responsible. */
  readonly create: Call<'bots.create'>;
  /** Disable one of your bots. Its access tokens and webhooks end at once; its messages stay. */
  readonly disable: Call<'bots.disable'>;
  /** List the access tokens of one of your bots. */
  readonly tokens: Call<'bots.tokens'>;
  /** Create an access token of one of your bots. It is shown only once. */
  readonly createToken: Call<'bots.create_token'>;
  /** Revoke an access token of one of your bots, at once. */
  readonly revokeToken: Call<'bots.revoke_token'>;
  /** Create an access token of one of your bots. It is shown only once. */
  readonly create_token: Call<'bots.create_token'>;
  /** Revoke an access token of one of your bots, at once. */
  readonly revoke_token: Call<'bots.revoke_token'>;
}

export interface InvitationsMethods {
  /** Create a link with which one person can sign up. It is shown only once. */
  readonly create: Call<'invitations.create'>;
  /** List the invitations that can still be used, at most 1,000, the newest first. */
  readonly list: Call<'invitations.list'>;
  /** Withdraw an invitation. */
  readonly withdraw: Call<'invitations.withdraw'>;
}

export interface ServiceMethods {
  /** Read what this service is called, and which chat new people join. */
  readonly get: Call<'service.get'>;
  /** Name the service, and choose the chat that new people join. Fields that are left out stay as they are. */
  readonly update: Call<'service.update'>;
  /** Read the version, the sizes of the database and of all files, and when the last backup was made. */
  readonly status: Call<'service.status'>;
  /** Read the metrics of the last hours, the oldest interval first. Intervals in which no server ran are left out. */
  readonly history: Call<'service.history'>;
  /** List all chats, the newest first, without anything of their messages. */
  readonly chats: PagedCall<'service.chats'>;
  /** List all people with what they and their bots use, the largest use first. */
  readonly use: PagedCall<'service.use'>;
  /** Read the audit log, the newest entries first. */
  readonly audit: PagedCall<'service.audit'>;
  /** Read the settings of the server that responds, and where each comes from. Secrets are left out. */
  readonly settings: Call<'service.settings'>;
}

/** The methods of a client by resource. */
export interface Methods {
  readonly messages: MessagesMethods;
  readonly chats: ChatsMethods;
  readonly webhooks: WebhooksMethods;
  readonly hooks: HooksMethods;
  readonly events: EventsMethods;
  readonly files: FilesMethods;
  readonly push: PushMethods;
  readonly users: UsersMethods;
  readonly tokens: TokensMethods;
  readonly apps: AppsMethods;
  readonly bots: BotsMethods;
  readonly invitations: InvitationsMethods;
  readonly service: ServiceMethods;
}

export interface EventData {
  /** Sent when a new message appears in a chat. */
  new_message: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    content: string;
    /** The participants whom the text mentions by `@name`; absent if there are none. */
    mentions?: number[] | undefined;
    /** True if the text mentions `@all`; absent otherwise. */
    mentions_all?: boolean | undefined;
    /** The first message of the thread; only of a reply. */
    thread_id?: number | undefined;
    file?: FileInfo | undefined;
    /** All files, if there are several. */
    files?: FileInfo[] | undefined;
    /** Identifier of a message; rises within a chat. */
    reply_to?: number | undefined;
  };
  /** Sent when a message is edited. */
  message_edited: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** The author. */
    user_id: number;
    content: string;
    /** The participants whom the text mentions by `@name`; absent if there are none. */
    mentions?: number[] | undefined;
    /** True if the text mentions `@all`; absent otherwise. */
    mentions_all?: boolean | undefined;
    previous_content: string;
    /** Whom the text before mentioned by `@name`; absent if nobody. */
    previous_mentions?: number[] | undefined;
    /** True if the text before mentioned `@all`; absent otherwise. */
    previous_mentions_all?: boolean | undefined;
  };
  /** Sent when a message is deleted. */
  message_deleted: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** The author. */
    user_id: number;
    /** Who deleted it. */
    actor_id: number;
    /** Whom the message mentioned by `@name`; absent if nobody. */
    mentions?: number[] | undefined;
    /** True if the message mentioned `@all`; absent otherwise. */
    mentions_all?: boolean | undefined;
    /** The first message of the thread; only of a reply. */
    thread_id?: number | undefined;
  };
  /** Sent when a user joins a group or channel, or is added to it. */
  user_joined: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    /** Identifier of a user. */
    actor_id: number;
  };
  /** Sent when a user leaves a group or channel, or is removed from it. */
  user_left: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    /** Identifier of a user. */
    actor_id: number;
  };
  /** Sent when a new group is created. */
  group_created: {
    /** Identifier of a chat. */
    chat_id: number;
    name: string;
    /** Identifier of a user. */
    user_id: number;
    participants: number[];
  };
  /** Sent when a new channel is created. */
  channel_created: {
    /** Identifier of a chat. */
    chat_id: number;
    name: string;
    /** Identifier of a user. */
    user_id: number;
    participants: number[];
  };
  /** Sent when a new direct chat is created. */
  direct_created: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    participants: number[];
  };
  /** Sent when the name, description or visibility of a chat changes. */
  chat_updated: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Who changed it. */
    user_id: number;
    name: string;
    description: string;
    visibility: 'public' | 'private';
  };
  /** Sent when the role of a participant changes. */
  role_changed: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    /** Identifier of a user. */
    actor_id: number;
    role: 'owner' | 'admin' | 'member';
    previous_role: 'owner' | 'admin' | 'member';
  };
  /** Sent when the profile of a participant changes; one event for each of their chats. */
  user_updated: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    name: string;
    display_name: string;
    /** A line that the user writes about what they do; empty by default. */
    status_text: string;
    /** A name of the IANA time zone database. */
    time_zone: string | null;
    /** Fetches the picture with an access token; changes with the picture. */
    avatar_url: string | null;
  };
  /** Sent when somebody reacts to a message. */
  reaction_added: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    emoji: string;
  };
  /** Sent when somebody takes a reaction back. */
  reaction_removed: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** Identifier of a user. */
    user_id: number;
    emoji: string;
  };
  /** Sent when a message is pinned in its chat. */
  message_pinned: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** The user who did it. */
    user_id: number;
  };
  /** Sent when a message is unpinned; one that is deleted is unpinned without this event. */
  message_unpinned: {
    /** Identifier of a message; rises within a chat. */
    message_id: number;
    /** Identifier of a chat. */
    chat_id: number;
    /** The user who did it. */
    user_id: number;
  };
  /** Sent when you change your own preferences for a chat. */
  preferences_changed: {
    /** Identifier of a user. */
    user_id: number;
    preferences: {
      /** Identifier of a chat. */
      chat_id: number;
      /** Which messages notify you; clients act on it. */
      notify: 'all' | 'mentions' | 'none';
      /** No notifications until then; a time in the past has no effect. */
      muted_until: string | null;
      /** Whether you have archived the chat. */
      archived: boolean;
      /** Whether you keep the chat at the top of your list. */
      pinned: boolean;
    };
  };
  /** Sent when one of your webhooks is disabled because its endpoint is gone or was down for too long. */
  webhook_disabled: {
    /** Identifier of a webhook. */
    webhook_id: number;
    /** The owner of the webhook. */
    user_id: number;
    url: string;
    reason: 'gone' | 'unreachable';
  };
}

export interface SignalData {
  /** Sent when somebody has read a chat up to a message. */
  message_read: {
    /** Identifier of a chat. */
    chat_id: number;
    /** Who has read. */
    user_id: number;
    /** Identifier of a message; rises within a chat. */
    message_id: number;
  };
  /** Sent when somebody writes a message in a chat of at most 100 participants; forget it after 6 seconds, or at the next message of that user. */
  typing: {
    /** Identifier of a chat. */
    chat_id: number;
    /** The user who is typing. */
    user_id: number;
  };
  /** Sent when somebody in one of your chats of at most 100 participants comes online, is away, or goes offline. */
  presence_changed: {
    /** Identifier of a user. */
    user_id: number;
    presence: 'online' | 'away' | 'offline';
  };
  /** Sent when deliveries of one of your webhooks are created, tried or changed; at most 5 times a second for each webhook. */
  deliveries_changed: {
    /** Identifier of a webhook. */
    webhook_id: number;
  };
}

export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'forbidden'
  | 'not_found'
  | 'unknown_action'
  | 'method_not_allowed'
  | 'conflict'
  | 'idempotency_conflict'
  | 'cursor_expired'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'internal'
  | 'unavailable';

export const signalNames = ['message_read', 'typing', 'presence_changed', 'deliveries_changed'] as const;

/** How each operation is called. */
export const operations = {
  messages: {
    send_message: { method: 'POST', idempotent: true },
    get_messages: { method: 'GET' },
    get_message: { method: 'GET' },
    edit_message: { method: 'POST' },
    delete_message: { method: 'POST' },
    search_messages: { method: 'GET' },
    mentions: { method: 'GET' },
    threads: { method: 'GET' },
    mark_read: { method: 'POST' },
    add_reaction: { method: 'POST' },
    remove_reaction: { method: 'POST' },
    reactions: { method: 'GET' },
    pin: { method: 'POST' },
    unpin: { method: 'POST' },
    pins: { method: 'GET' },
    create_group: { method: 'POST', idempotent: true },
    create_channel: { method: 'POST', idempotent: true },
    create_direct: { method: 'POST', idempotent: true },
  },
  chats: {
    list: { method: 'GET' },
    get: { method: 'GET' },
    update: { method: 'POST' },
    set_preferences: { method: 'POST' },
    participants: { method: 'GET' },
    add_participants: { method: 'POST' },
    remove_participant: { method: 'POST' },
    set_role: { method: 'POST' },
    join: { method: 'POST' },
    leave: { method: 'POST' },
    typing: { method: 'POST' },
  },
  webhooks: {
    register: { method: 'POST', idempotent: true },
    list: { method: 'GET' },
    get: { method: 'GET' },
    health: { method: 'GET' },
    update: { method: 'POST' },
    rotate_secret: { method: 'POST' },
    test: { method: 'POST' },
    deliveries: { method: 'GET' },
    delivery: { method: 'GET' },
    skip: { method: 'POST' },
    redeliver: { method: 'POST' },
    replay: { method: 'POST', idempotent: true },
    preview_replay: { method: 'GET' },
    cancel_replay: { method: 'POST' },
    replays: { method: 'GET' },
    delete: { method: 'POST' },
  },
  hooks: {
    create: { method: 'POST' },
    list: { method: 'GET' },
    revoke: { method: 'POST' },
  },
  events: {
    list: { method: 'GET' },
    stream: { method: 'GET', kind: 'stream' },
  },
  files: {
    upload: { method: 'POST', idempotent: true, form: true },
    get: { method: 'GET' },
    download: { method: 'GET', kind: 'file' },
    thumbnail: { method: 'GET', kind: 'file' },
  },
  push: {
    key: { method: 'GET' },
    subscribe: { method: 'POST' },
    list: { method: 'GET' },
    unsubscribe: { method: 'POST' },
  },
  users: {
    me: { method: 'GET' },
    get: { method: 'GET' },
    search: { method: 'GET' },
    update: { method: 'POST' },
    set_avatar: { method: 'POST', form: true },
    remove_avatar: { method: 'POST' },
    avatar: { method: 'GET', kind: 'file' },
    create: { method: 'POST', idempotent: true },
    disable: { method: 'POST' },
    enable: { method: 'POST' },
    list: { method: 'GET' },
    presence: { method: 'GET' },
    set_presence: { method: 'POST' },
    quiet_hours: { method: 'GET' },
    set_quiet_hours: { method: 'POST' },
  },
  tokens: {
    list: { method: 'GET' },
    create: { method: 'POST' },
    usage: { method: 'GET' },
    revoke: { method: 'POST' },
  },
  apps: {
    list: { method: 'GET' },
    get: { method: 'GET' },
    register: { method: 'POST' },
    update: { method: 'POST' },
    replace_secret: { method: 'POST' },
    authorized: { method: 'GET' },
    revoke_access: { method: 'POST' },
    delete: { method: 'POST' },
  },
  bots: {
    list: { method: 'GET' },
    create: { method: 'POST' },
    tokens: { method: 'GET' },
    create_token: { method: 'POST' },
    revoke_token: { method: 'POST' },
    disable: { method: 'POST' },
  },
  invitations: {
    create: { method: 'POST' },
    list: { method: 'GET' },
    withdraw: { method: 'POST' },
  },
  service: {
    get: { method: 'GET' },
    update: { method: 'POST' },
    status: { method: 'GET' },
    history: { method: 'GET' },
    chats: { method: 'GET' },
    use: { method: 'GET' },
    audit: { method: 'GET' },
    settings: { method: 'GET' },
  },
} as const;
