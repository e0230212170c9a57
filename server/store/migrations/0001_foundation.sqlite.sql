-- Times are milliseconds since 1970, truth values 0 and 1.

CREATE TABLE users (
  user_id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE, -- the name folded for comparison
  display_name TEXT NOT NULL,
  search_key TEXT NOT NULL, -- both names folded, for search
  is_admin INTEGER NOT NULL DEFAULT 0,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT;

CREATE TABLE tokens (
  token_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  parent_id INTEGER REFERENCES tokens (token_id), -- the token that made it, and takes it along when it is revoked
  app_id INTEGER NOT NULL DEFAULT 0, -- 0: a personal token
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the token; the token itself is never stored
  scopes TEXT NOT NULL, -- names separated by spaces
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_parent ON tokens (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE chats (
  chat_id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  visibility TEXT NOT NULL,
  name TEXT,
  search_key TEXT NOT NULL, -- the name folded, for search
  description TEXT NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (user_id),
  created_at INTEGER NOT NULL,
  participant_count INTEGER NOT NULL DEFAULT 0, -- of members who have not left
  direct_key TEXT UNIQUE -- both user ids of a direct chat, the lower first
) STRICT;
CREATE INDEX chats_public ON chats (chat_id) WHERE visibility = 'public';

-- One row for each stay of a user in a chat: from the event of joining to the event of leaving, both included.
CREATE TABLE members (
  chat_id INTEGER NOT NULL REFERENCES chats (chat_id),
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  joined_event INTEGER NOT NULL,
  left_event INTEGER,
  role TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  last_read_id INTEGER NOT NULL, -- 0: nothing read
  PRIMARY KEY (chat_id, user_id, joined_event)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_present ON members (chat_id, user_id) WHERE left_event IS NULL;
CREATE INDEX members_by_user ON members (user_id, chat_id);

-- No foreign keys: only a member can write here, and the member's row has them.
CREATE TABLE messages (
  message_id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  has_reactions INTEGER NOT NULL DEFAULT 0, -- 0: surely none
  json TEXT NOT NULL -- the message as readers get it, but for reactions
) STRICT;
CREATE INDEX messages_by_chat ON messages (chat_id, message_id);

CREATE TABLE reactions (
  chat_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  emoji TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL, -- the event that told of it; gives the order
  PRIMARY KEY (chat_id, message_id, emoji, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  event_id INTEGER PRIMARY KEY,
  chat_id INTEGER NOT NULL,
  event TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL -- the delivery body, frozen
) STRICT;
CREATE INDEX events_by_chat ON events (chat_id, event_id);
-- For readers of rare events: they need not go through all messages.
CREATE INDEX events_but_messages ON events (chat_id, event_id) WHERE event <> 'new_message';

CREATE TABLE idempotency (
  user_id INTEGER NOT NULL,
  app_id INTEGER NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL, -- of the input
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, app_id, operation, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- How far a reader of the event log has come; `pruned` is the last event that was dropped.
CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  event_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO cursors (name, event_id) VALUES ('search', 0), ('pruned', 0);

-- The last ids given out. Never lowered: an id is never given twice.
CREATE TABLE id_counters (
  name TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO id_counters (name, last_id) VALUES ('messages', 0), ('events', 0);

-- Words come folded and separated by spaces, so the tokenizer has only to split. Each begins with the id of its chat, so
-- that a search costs what is in the searcher's chats, whatever is in others.
CREATE VIRTUAL TABLE message_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'none');
