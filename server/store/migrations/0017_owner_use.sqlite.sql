-- What a person and their bots use together, for the quotas.
CREATE TABLE owner_use (
  owner_id INTEGER PRIMARY KEY REFERENCES users (user_id),
  chats INTEGER NOT NULL DEFAULT 0, -- created, whether they are still in them or not
  file_bytes INTEGER NOT NULL DEFAULT 0, -- of all files whose size is known
  message_day INTEGER NOT NULL DEFAULT 0, -- days since 1970, in UTC
  messages INTEGER NOT NULL DEFAULT 0 -- sent and edited on that day
) STRICT;

INSERT INTO owner_use (owner_id, chats, file_bytes)
SELECT owner_id, CAST(sum(chats) AS INTEGER), CAST(sum(file_bytes) AS INTEGER) FROM (
  SELECT COALESCE(u.owner_id, u.user_id) AS owner_id, 1 AS chats, 0 AS file_bytes
  FROM chats c JOIN users u ON u.user_id = c.created_by
  UNION ALL
  SELECT COALESCE(u.owner_id, u.user_id), 0, f.size FROM files f JOIN users u ON u.user_id = f.user_id WHERE f.size IS NOT NULL
) AS used GROUP BY owner_id;
