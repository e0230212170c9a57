CREATE TABLE apps (
  app_id INTEGER PRIMARY KEY AUTOINCREMENT,
  client_id TEXT NOT NULL UNIQUE,
  owner_id INTEGER REFERENCES users (user_id),
  name TEXT NOT NULL,
  redirects TEXT NOT NULL,
  secret_hash TEXT,
  bot_id INTEGER REFERENCES users (user_id),
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
, by_token INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX apps_by_owner ON apps (owner_id) WHERE deleted_at IS NULL;

CREATE TABLE attempts (
  delivery_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  duration_ms INTEGER NOT NULL,
  answer TEXT, cause TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  act TEXT NOT NULL,
  user_id INTEGER,
  app_id INTEGER NOT NULL,
  address TEXT,
  details TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_act ON audit (act, audit_id);

CREATE INDEX audit_by_age ON audit (at);

CREATE INDEX audit_by_user ON audit (user_id, audit_id);

CREATE TABLE authorization_codes (
  hash TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES grants (grant_id),
  redirect TEXT NOT NULL,
  challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX authorization_codes_by_grant ON authorization_codes (grant_id);

CREATE INDEX authorization_codes_ending ON authorization_codes (expires_at);

CREATE TABLE avatars (
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  pixels INTEGER NOT NULL,
  picture TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, pixels)
) STRICT;

CREATE TABLE backlogs (
  webhook_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL,
  after_event INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, chat_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
  chat_id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  visibility TEXT NOT NULL,
  name TEXT,
  search_key TEXT NOT NULL,
  description TEXT NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (user_id),
  created_at INTEGER NOT NULL,
  participant_count INTEGER NOT NULL DEFAULT 0,
  direct_key TEXT UNIQUE
, pins TEXT NOT NULL DEFAULT '[]') STRICT;

CREATE INDEX chats_public ON chats (chat_id) WHERE visibility = 'public';

CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  event_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  delivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  replay_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL,
  event TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  refusals INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER,
  last_at INTEGER,
  last_status INTEGER,
  last_error TEXT,
  duration_ms INTEGER,
  settled_at INTEGER
, last_cause TEXT, secret_number INTEGER) STRICT;

CREATE INDEX deliveries_by_chat ON deliveries (webhook_id, chat_id, event_id, replay_id);

CREATE UNIQUE INDEX deliveries_by_event ON deliveries (webhook_id, event_id, replay_id);

CREATE INDEX deliveries_by_name ON deliveries (webhook_id, event, event_id, replay_id) WHERE event <> 'new_message';

CREATE INDEX deliveries_by_replay ON deliveries (webhook_id, replay_id, event_id) WHERE replay_id > 0;

CREATE INDEX deliveries_given_up ON deliveries (webhook_id, state, event_id, replay_id) WHERE state IN ('failed', 'skipped');

CREATE INDEX deliveries_open ON deliveries (webhook_id, replay_id, event_id) WHERE state IN ('pending', 'retrying');

CREATE INDEX deliveries_retrying ON deliveries (last_at) WHERE state = 'retrying';

CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE device_codes (
  hash TEXT PRIMARY KEY,
  user_code_hash TEXT NOT NULL UNIQUE,
  app_id INTEGER NOT NULL REFERENCES apps (app_id),
  scopes TEXT NOT NULL,
  interval_ms INTEGER NOT NULL,
  polled_at INTEGER,
  expires_at INTEGER NOT NULL,
  denied_at INTEGER,
  grant_id INTEGER REFERENCES grants (grant_id),
  used_at INTEGER
) STRICT;

CREATE INDEX device_codes_by_grant ON device_codes (grant_id) WHERE grant_id IS NOT NULL;

CREATE INDEX device_codes_ending ON device_codes (expires_at);

CREATE TABLE "endpoint_state" (
  webhook_id INTEGER PRIMARY KEY REFERENCES webhooks (webhook_id),
  owner TEXT,
  lease_number INTEGER NOT NULL DEFAULT 0,
  lease_expires_at INTEGER NOT NULL DEFAULT 0,
  delivery_count INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  down_since INTEGER,
  down_cause TEXT,
  probes INTEGER NOT NULL DEFAULT 0,
  hold_until INTEGER
, confirmed_url TEXT) STRICT;

CREATE INDEX endpoint_state_due ON endpoint_state (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX endpoint_state_owned ON endpoint_state (owner) WHERE owner IS NOT NULL;

CREATE TABLE events (
  event_id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL,
  event TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL
, message_id INTEGER, format INTEGER) STRICT;

CREATE INDEX events_but_messages ON events (chat_id, event_id) WHERE event <> 'new_message';

CREATE INDEX events_by_chat ON events (chat_id, event_id);

CREATE TABLE files (
  file_id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  name TEXT NOT NULL,
  mime_type TEXT,
  size INTEGER,
  sha256 TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  is_dropped INTEGER NOT NULL DEFAULT 0
, lease_number INTEGER NOT NULL DEFAULT 0, is_wanted INTEGER NOT NULL DEFAULT 0, is_doubtful INTEGER NOT NULL DEFAULT 0, segments TEXT NOT NULL DEFAULT '', lease_expires_at INTEGER NOT NULL DEFAULT 0, width INTEGER, height INTEGER, thumbnail_size INTEGER) STRICT;

CREATE INDEX files_ending ON files (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX files_unsent ON files (user_id) WHERE expires_at IS NOT NULL;

CREATE TABLE grants (
  grant_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL REFERENCES apps (app_id),
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE INDEX grants_by_app ON grants (app_id);

CREATE INDEX grants_by_user ON grants (user_id, app_id);

CREATE INDEX grants_ending ON grants (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE hooks (
  hook_id INTEGER PRIMARY KEY AUTOINCREMENT,
  chat_id INTEGER NOT NULL REFERENCES chats (chat_id),
  bot_id INTEGER NOT NULL REFERENCES users (user_id),
  owns_bot INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (user_id),
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE INDEX hooks_by_bot ON hooks (bot_id);

CREATE INDEX hooks_by_chat ON hooks (chat_id);

CREATE INDEX hooks_by_maker ON hooks (created_by);

CREATE TABLE id_counters (
  name TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  user_id INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  response TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, app_id, operation, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE links (
  link_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL,
  user_id INTEGER REFERENCES users (user_id),
  created_by INTEGER REFERENCES users (user_id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;

CREATE TABLE log_gaps (
  after_event INTEGER PRIMARY KEY,
  up_to INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  chat_id INTEGER NOT NULL REFERENCES chats (chat_id),
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  joined_event INTEGER NOT NULL,
  left_event INTEGER,
  role TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  last_read_id INTEGER NOT NULL, notify TEXT NOT NULL DEFAULT 'all', muted_until INTEGER, is_archived INTEGER NOT NULL DEFAULT 0, is_pinned INTEGER NOT NULL DEFAULT 0, joined_message INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (chat_id, user_id, joined_event)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_user ON members (user_id, chat_id);

CREATE INDEX members_left ON members (left_event) WHERE left_event IS NOT NULL;

CREATE INDEX members_of_user ON members (user_id, is_archived, chat_id, joined_message, joined_event, is_pinned, left_event)
WHERE left_event IS NULL;

CREATE UNIQUE INDEX members_present ON members (chat_id, user_id) WHERE left_event IS NULL;

CREATE TABLE mentions (
  chat_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL,
  PRIMARY KEY (chat_id, user_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_files (
  message_id INTEGER NOT NULL,
  file_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, file_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX message_files_by_file ON message_files (file_id, chat_id);

CREATE VIRTUAL TABLE message_terms USING fts5vocab (message_words, instance);

CREATE VIRTUAL TABLE message_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'none');

CREATE TABLE messages (
  message_id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  extras INTEGER NOT NULL DEFAULT 0,
  json TEXT NOT NULL
, file_id INTEGER, event_id INTEGER) STRICT;

CREATE INDEX messages_by_chat ON messages (chat_id, message_id);

CREATE INDEX messages_by_file ON messages (file_id, chat_id) WHERE file_id IS NOT NULL;

CREATE TABLE metric_samples (
  minute INTEGER PRIMARY KEY,
  messages INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  server_errors INTEGER NOT NULL,
  streams INTEGER NOT NULL,
  people_online INTEGER NOT NULL,
  first_attempts INTEGER NOT NULL,
  first_attempt_lag_ms INTEGER NOT NULL,
  backlog INTEGER NOT NULL,
  disk_free INTEGER NOT NULL,
  disk_total INTEGER NOT NULL
) STRICT;

CREATE TABLE nodes (
  owner TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE owner_use (
  owner_id INTEGER PRIMARY KEY REFERENCES users (user_id),
  chats INTEGER NOT NULL DEFAULT 0,
  file_bytes INTEGER NOT NULL DEFAULT 0,
  message_day INTEGER NOT NULL DEFAULT 0,
  messages INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE push_pending (
  subscription_id INTEGER NOT NULL REFERENCES push_subscriptions (subscription_id) ON DELETE CASCADE,
  chat_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (subscription_id, chat_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX push_pending_due ON push_pending (next_at);

CREATE TABLE push_subscriptions (
  subscription_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL,
  token_id INTEGER NOT NULL REFERENCES tokens (token_id),
  endpoint TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  with_text INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX push_subscriptions_by_token ON push_subscriptions (token_id);

CREATE INDEX push_subscriptions_by_user ON push_subscriptions (user_id);

CREATE TABLE rate_uses (
  node TEXT NOT NULL,
  key TEXT NOT NULL,
  used INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (node, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX rate_uses_by_age ON rate_uses (at);

CREATE TABLE reactions (
  chat_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  emoji TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  PRIMARY KEY (chat_id, message_id, emoji, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE refresh_tokens (
  hash TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES grants (grant_id),
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);

CREATE INDEX refresh_tokens_ending ON refresh_tokens (expires_at);

CREATE TABLE replays (
  replay_id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  only_states TEXT,
  from_event INTEGER NOT NULL,
  to_event INTEGER NOT NULL,
  reached_event INTEGER NOT NULL,
  delivery_count INTEGER NOT NULL DEFAULT 0,
  delivered_count INTEGER NOT NULL DEFAULT 0,
  failed_count INTEGER NOT NULL DEFAULT 0,
  skipped_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;

CREATE INDEX replays_by_webhook ON replays (webhook_id, replay_id);

CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE replies (
  thread_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (thread_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL);

CREATE TABLE secret_keys (
  fingerprint TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE service (
  name TEXT NOT NULL,

  welcome_chat_id INTEGER REFERENCES chats (chat_id)
);

CREATE TABLE thread_participants (
  user_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
  thread_id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL,
  reply_count INTEGER NOT NULL,
  last_reply_id INTEGER NOT NULL,
  last_reply_at INTEGER NOT NULL
) STRICT;

CREATE TABLE throttles (
  key TEXT PRIMARY KEY,
  full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX throttles_by_age ON throttles (full_at);

CREATE TABLE token_use (
  token_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (token_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX token_use_by_day ON token_use (day);

CREATE TABLE tokens (
  token_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  parent_id INTEGER REFERENCES tokens (token_id),
  app_id INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
, kind TEXT NOT NULL DEFAULT 'personal', grant_id INTEGER REFERENCES grants (grant_id), user_agent TEXT) STRICT;

CREATE INDEX tokens_by_grant ON tokens (grant_id) WHERE grant_id IS NOT NULL;

CREATE INDEX tokens_by_parent ON tokens (parent_id) WHERE parent_id IS NOT NULL;

CREATE INDEX tokens_by_user ON tokens (user_id);

CREATE INDEX tokens_ending ON tokens (expires_at) WHERE kind <> 'personal';

CREATE INDEX tokens_revoked ON tokens (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE users (
  user_id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  search_key TEXT NOT NULL,
  is_admin INTEGER NOT NULL DEFAULT 0,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
, kind TEXT NOT NULL DEFAULT 'person', owner_id INTEGER REFERENCES users (user_id), status_text TEXT NOT NULL DEFAULT '', time_zone TEXT, avatar TEXT, hides_presence INTEGER NOT NULL DEFAULT 0, quiet_from TEXT, quiet_to TEXT, quiet_time_zone TEXT) STRICT;

CREATE INDEX users_administrators ON users (user_id) WHERE is_admin = 1;

CREATE INDEX users_by_owner ON users (owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE webhook_registry (
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE webhooks (
  webhook_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL,
  token_id INTEGER NOT NULL REFERENCES tokens (token_id),
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  chat_id INTEGER,
  service_wide INTEGER NOT NULL,
  include_direct INTEGER NOT NULL,
  status TEXT NOT NULL,
  disabled_reason TEXT,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  since_event INTEGER NOT NULL,
  expired_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
, secret_number INTEGER NOT NULL DEFAULT 1, earlier_until INTEGER) STRICT;

CREATE INDEX webhooks_active ON webhooks (webhook_id) WHERE status = 'active' AND deleted_at IS NULL;

CREATE INDEX webhooks_by_token ON webhooks (token_id);

CREATE INDEX webhooks_by_user ON webhooks (user_id, webhook_id) WHERE deleted_at IS NULL;

CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;
