-- One row for each file, from before its first byte is kept until after its last one is removed: so nothing is ever kept
-- that is not known here.
CREATE TABLE files (
  file_id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE, -- what its bytes are kept under; random
  user_id INTEGER NOT NULL REFERENCES users (user_id), -- who uploaded it
  name TEXT NOT NULL,
  mime_type TEXT,
  size INTEGER, -- as announced until it is whole, NULL: not announced
  sha256 TEXT, -- NULL: it is not whole
  created_at INTEGER NOT NULL,
  expires_at INTEGER, -- when it is removed, NULL: a message names it
  is_dropped INTEGER NOT NULL DEFAULT 0 -- its bytes are being removed
) STRICT;
CREATE INDEX files_ending ON files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX files_unsent ON files (user_id) WHERE expires_at IS NOT NULL;

ALTER TABLE messages ADD COLUMN file_id INTEGER;
CREATE INDEX messages_by_file ON messages (file_id, chat_id) WHERE file_id IS NOT NULL;
