import type { Table } from './table-copy.ts';

/** All tables in a backup, in the order in which a restore fills them: referring tables come later. */
export const keptTables: readonly Table[] = [
  { name: 'users', key: ['user_id'] },
  { name: 'avatars', key: ['user_id', 'pixels'] },
  { name: 'apps', key: ['app_id'] },
  { name: 'grants', key: ['grant_id'] },
  { name: 'tokens', key: ['token_id'] },
  { name: 'refresh_tokens', key: ['hash'] },
  { name: 'links', key: ['link_id'] },
  { name: 'audit', key: ['audit_id'] },
  { name: 'chats', key: ['chat_id'] },
  { name: 'members', key: ['chat_id', 'user_id', 'joined_event'] },
  { name: 'files', key: ['file_id'] },
  { name: 'messages', key: ['message_id'] },
  { name: 'message_files', key: ['message_id', 'file_id'] },
  { name: 'reactions', key: ['chat_id', 'message_id', 'emoji', 'user_id'] },
  { name: 'mentions', key: ['chat_id', 'user_id', 'message_id'] },
  { name: 'threads', key: ['thread_id'] },
  { name: 'replies', key: ['thread_id', 'message_id'] },
  { name: 'thread_participants', key: ['user_id', 'thread_id'] },
  { name: 'events', key: ['event_id'] },
  { name: 'cursors', key: ['name'] },
  { name: 'log_gaps', key: ['after_event'] },
  { name: 'idempotency', key: ['user_id', 'app_id', 'operation', 'key'] },
  { name: 'webhooks', key: ['webhook_id'] },
  { name: 'webhook_registry', key: [] },
  { name: 'endpoint_state', key: ['webhook_id'] },
  { name: 'backlogs', key: ['webhook_id', 'chat_id'] },
  { name: 'replays', key: ['replay_id'] },
  { name: 'deliveries', key: ['delivery_id'] },
  { name: 'attempts', key: ['delivery_id', 'number'] },
  { name: 'secret_keys', key: ['fingerprint'] },
];

/** All other tables, and why they are left out. */
export const leftOut: Readonly<Record<string, string>> = {
  schema_versions: 'the migrations of the restored database write it',
  id_counters: 'counters are in the manifest, and jump ahead',
  message_words: 'the search index is rebuilt from the messages',
  message_terms: 'the same index, as a list of its words',
  nodes: 'the servers that run now',
  rate_uses: 'counts of those servers within the last minute',
  owner_use: 'a restore counts chats and files again',
  throttles: 'current limits on attempts to sign in',
  authorization_codes: 'they expire within minutes and work once; one that was used since must not work again',
};
