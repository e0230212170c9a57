-- The processes that drive webhooks or could, so that each can tell its share of them.
CREATE TABLE nodes (
  owner TEXT PRIMARY KEY, -- as in drives
  seen_at INTEGER NOT NULL -- by the clock of the database
) STRICT, WITHOUT ROWID;
