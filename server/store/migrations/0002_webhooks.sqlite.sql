CREATE TABLE webhooks (
  webhook_id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  app_id INTEGER NOT NULL,
  token_id INTEGER NOT NULL REFERENCES tokens (token_id), -- it ends with this token
  url TEXT NOT NULL,
  events TEXT NOT NULL, -- a JSON array of names
  chat_id INTEGER, -- NULL: of all chats
  service_wide INTEGER NOT NULL,
  include_direct INTEGER NOT NULL,
  status TEXT NOT NULL,
  disabled_reason TEXT,
  secret TEXT NOT NULL, -- sealed
  previous_secret TEXT, -- sealed
  previous_until INTEGER,
  since_event INTEGER NOT NULL, -- it gets events after this one
  expired_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE INDEX webhooks_by_user ON webhooks (user_id, webhook_id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_active ON webhooks (webhook_id) WHERE status = 'active' AND deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhooks_by_token ON webhooks (token_id);

-- Rises with every change to who is told what.
CREATE TABLE webhook_registry (
  version INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_registry (version) VALUES (0);

-- Which process drives a webhook, and how its endpoint is doing.
CREATE TABLE drives (
  webhook_id INTEGER PRIMARY KEY REFERENCES webhooks (webhook_id),
  owner TEXT, -- a process
  lease_number INTEGER NOT NULL DEFAULT 0, -- rises with every lease that is taken
  lease_until INTEGER NOT NULL DEFAULT 0, -- by the clock of the database
  filled INTEGER NOT NULL DEFAULT 0, -- deliveries ever made for it
  revision INTEGER NOT NULL DEFAULT 0, -- rises when somebody else than its owner changes something
  due_at INTEGER, -- NULL: there is nothing to do
  down_since INTEGER,
  down_cause TEXT,
  probes INTEGER NOT NULL DEFAULT 0,
  hold_until INTEGER
) STRICT;
CREATE INDEX drives_due ON drives (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX drives_held ON drives (owner) WHERE owner IS NOT NULL;

-- Where the log itself holds what a webhook is still to get: everything after this event, of one chat or (0) of all others.
CREATE TABLE backlogs (
  webhook_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL,
  after_event INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, chat_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE replays (
  replay_id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  only_states TEXT, -- a JSON array; NULL: everything
  from_event INTEGER NOT NULL,
  to_event INTEGER NOT NULL,
  reached_event INTEGER NOT NULL,
  filled_count INTEGER NOT NULL DEFAULT 0,
  delivered_count INTEGER NOT NULL DEFAULT 0,
  failed_count INTEGER NOT NULL DEFAULT 0,
  skipped_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX replays_by_webhook ON replays (webhook_id, replay_id);
CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;

-- One event for one webhook. No foreign keys: events are dropped before it.
CREATE TABLE deliveries (
  delivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  replay_id INTEGER NOT NULL, -- 0: none
  chat_id INTEGER NOT NULL,
  event TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  refusals INTEGER NOT NULL DEFAULT 0, -- the attempts that count towards giving up
  next_at INTEGER,
  last_at INTEGER,
  last_status INTEGER,
  last_error TEXT,
  duration_ms INTEGER,
  settled_at INTEGER
) STRICT;
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (webhook_id, event_id, replay_id);
CREATE INDEX deliveries_open ON deliveries (webhook_id, replay_id, event_id) WHERE state IN ('pending', 'retrying');
CREATE INDEX deliveries_settled ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX deliveries_unhappy ON deliveries (webhook_id, event_id, replay_id) WHERE state IN ('failed', 'skipped');

-- A first attempt that succeeds is told by its delivery alone.
CREATE TABLE attempts (
  delivery_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  status INTEGER,
  error TEXT,
  duration_ms INTEGER NOT NULL,
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

-- Which key seals the secrets, so that a process with another one says so and does not start.
CREATE TABLE secret_keys (
  fingerprint TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO cursors (name, event_id)
SELECT 'webhooks', COALESCE((SELECT max(event_id) FROM events), event_id) FROM cursors WHERE name = 'pruned';
