-- The people that a message mentions. A message that mentions all has one row, with the user_id 0.
CREATE TABLE mentions (
  chat_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  message_id BIGINT NOT NULL,
  author_id BIGINT NOT NULL, -- of the message
  PRIMARY KEY (chat_id, user_id, message_id)
);

-- Bits instead of a flag: 1 for reactions, 2 for replies. A bit may be set without them, but never the other way round.
ALTER TABLE messages RENAME COLUMN has_reactions TO extras;

-- A message that has replies. Replies from before this version belong to no thread.
CREATE TABLE threads (
  thread_id BIGINT PRIMARY KEY, -- the message_id of the first message, to which the others reply
  chat_id BIGINT NOT NULL,
  reply_count BIGINT NOT NULL,
  last_reply_id BIGINT NOT NULL,
  last_reply_at BIGINT NOT NULL
);

-- A row ends with its message.
CREATE TABLE replies (
  thread_id BIGINT NOT NULL,
  message_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (thread_id, message_id)
);

-- Who has written in a thread.
CREATE TABLE thread_participants (
  user_id BIGINT NOT NULL,
  thread_id BIGINT NOT NULL,
  PRIMARY KEY (user_id, thread_id)
);
