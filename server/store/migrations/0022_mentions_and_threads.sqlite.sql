-- The people that a message mentions. A message that mentions all has one row, with the user_id 0.
CREATE TABLE mentions (
  chat_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL, -- of the message
  PRIMARY KEY (chat_id, user_id, message_id)
) STRICT, WITHOUT ROWID;

-- Bits instead of a flag: 1 for reactions, 2 for replies. A bit may be set without them, but never the other way round.
ALTER TABLE messages RENAME COLUMN has_reactions TO extras;

-- A message that has replies. Replies from before this version belong to no thread.
CREATE TABLE threads (
  thread_id INTEGER PRIMARY KEY, -- the message_id of the first message, to which the others reply
  chat_id INTEGER NOT NULL,
  reply_count INTEGER NOT NULL,
  last_reply_id INTEGER NOT NULL,
  last_reply_at INTEGER NOT NULL
) STRICT;

-- A row ends with its message.
CREATE TABLE replies (
  thread_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (thread_id, message_id)
) STRICT, WITHOUT ROWID;

-- Who has written in a thread.
CREATE TABLE thread_participants (
  user_id INTEGER NOT NULL,
  thread_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, thread_id)
) STRICT, WITHOUT ROWID;
