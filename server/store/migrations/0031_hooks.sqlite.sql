-- Incoming webhooks: secret URLs that post into a chat as a bot. One works while its maker may post there.
CREATE TABLE hooks (
  hook_id INTEGER PRIMARY KEY AUTOINCREMENT,
  chat_id INTEGER NOT NULL REFERENCES chats (chat_id),
  bot_id INTEGER NOT NULL REFERENCES users (user_id),
  owns_bot INTEGER NOT NULL, -- 1: the bot was created for it, and ends with the last of its hooks
  created_by INTEGER NOT NULL REFERENCES users (user_id),
  hash TEXT NOT NULL UNIQUE, -- of the secret
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX hooks_by_chat ON hooks (chat_id);
CREATE INDEX hooks_by_bot ON hooks (bot_id);
CREATE INDEX hooks_by_maker ON hooks (created_by);
