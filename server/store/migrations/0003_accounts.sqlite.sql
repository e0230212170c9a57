ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person'; -- or bot
ALTER TABLE users ADD COLUMN owner_id INTEGER REFERENCES users (user_id); -- of a bot
ALTER TABLE users ADD COLUMN password_changed_at INTEGER; -- what was opened with the one before has ended
CREATE INDEX users_by_owner ON users (owner_id) WHERE owner_id IS NOT NULL;

-- What acts for people, or for itself as its bot.
CREATE TABLE apps (
  app_id INTEGER PRIMARY KEY AUTOINCREMENT,
  client_id TEXT NOT NULL UNIQUE,
  owner_id INTEGER REFERENCES users (user_id), -- NULL: Parley's own
  name TEXT NOT NULL,
  redirects TEXT NOT NULL, -- a JSON array of addresses
  secret_hash TEXT, -- NULL: an app that can keep no secret
  bot_id INTEGER REFERENCES users (user_id), -- whom an app with a secret acts as, where nobody has authorized it
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE INDEX apps_by_owner ON apps (owner_id) WHERE deleted_at IS NULL;
INSERT INTO apps (client_id, name, redirects, created_at)
VALUES ('parley-cli', 'Parley command line', '["http://127.0.0.1/callback"]', 0);

-- One authorization of an app by a user. Everything that comes of it ends with it.
CREATE TABLE grants (
  grant_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL REFERENCES apps (app_id),
  scopes TEXT NOT NULL, -- names separated by spaces
  created_at INTEGER NOT NULL,
  expires_at INTEGER, -- moves on with every refresh, NULL: never
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX grants_by_user ON grants (user_id, app_id);
CREATE INDEX grants_by_app ON grants (app_id);
CREATE INDEX grants_ending ON grants (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE authorization_codes (
  hash TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES grants (grant_id),
  redirect TEXT NOT NULL, -- as the request named it
  challenge TEXT NOT NULL, -- of PKCE, by SHA-256
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX authorization_codes_by_grant ON authorization_codes (grant_id);
CREATE INDEX authorization_codes_ending ON authorization_codes (expires_at);

CREATE TABLE refresh_tokens (
  hash TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES grants (grant_id),
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_ending ON refresh_tokens (expires_at);

ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'personal'; -- personal, oauth, or session: a browser's cookie
ALTER TABLE tokens ADD COLUMN grant_id INTEGER REFERENCES grants (grant_id); -- of kind oauth
CREATE INDEX tokens_by_grant ON tokens (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX tokens_ending ON tokens (expires_at) WHERE kind <> 'personal';
CREATE INDEX tokens_revoked ON tokens (revoked_at) WHERE revoked_at IS NOT NULL;

-- Links that work once: to set up the service, to join it, to choose a new password.
CREATE TABLE links (
  link_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  note TEXT NOT NULL, -- what whoever made it wrote about it
  user_id INTEGER REFERENCES users (user_id), -- whose password
  created_by INTEGER REFERENCES users (user_id), -- NULL: the server itself, or its operator
  created_at INTEGER NOT NULL,
  expires_at INTEGER -- NULL: never
) STRICT;

-- When each of those that are slowed down may go on: see the store's throttles.
CREATE TABLE throttles (
  key TEXT PRIMARY KEY,
  full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX throttles_by_age ON throttles (full_at);

-- How many requests of a caller each of several processes has counted.
CREATE TABLE rate_uses (
  node TEXT NOT NULL,
  key TEXT NOT NULL,
  used INTEGER NOT NULL,
  at INTEGER NOT NULL, -- by the clock of the database
  PRIMARY KEY (node, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_uses_by_age ON rate_uses (at);

-- What was done that bears on security. No foreign keys: it outlives what it tells of.
CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  act TEXT NOT NULL,
  user_id INTEGER, -- who did it, NULL: somebody unknown, or the operator
  app_id INTEGER NOT NULL, -- with which app, 0: none
  address TEXT, -- from where
  details TEXT NOT NULL -- a JSON object, without secrets
) STRICT;
CREATE INDEX audit_by_age ON audit (at);
CREATE INDEX audit_by_user ON audit (user_id, audit_id);
CREATE INDEX audit_by_act ON audit (act, audit_id);
