-- Web Push subscriptions of browsers. One ends with the session or token that made it.
CREATE TABLE push_subscriptions (
  subscription_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL, -- 0: no app
  token_id INTEGER NOT NULL REFERENCES tokens (token_id),
  endpoint TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL, -- of the endpoint
  p256dh TEXT NOT NULL,
  auth TEXT NOT NULL,
  with_text INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX push_subscriptions_by_user ON push_subscriptions (user_id);
CREATE INDEX push_subscriptions_by_token ON push_subscriptions (token_id);

-- What subscriptions are still to be told: the newest message of each chat. A row is deleted once it is sent or dropped.
CREATE TABLE push_pending (
  subscription_id INTEGER NOT NULL REFERENCES push_subscriptions (subscription_id) ON DELETE CASCADE,
  chat_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL, -- of the message
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL, -- a process that sends it moves this on, so that no other does
  PRIMARY KEY (subscription_id, chat_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_pending_due ON push_pending (next_at);

INSERT INTO cursors (name, event_id)
SELECT 'push', COALESCE((SELECT max(event_id) FROM events), event_id) FROM cursors WHERE name = 'pruned';

-- When a person wants no notifications: times such as 22:00, and a name of the IANA database. NULL: never.
ALTER TABLE users ADD COLUMN quiet_from TEXT;
ALTER TABLE users ADD COLUMN quiet_to TEXT;
ALTER TABLE users ADD COLUMN quiet_time_zone TEXT;
