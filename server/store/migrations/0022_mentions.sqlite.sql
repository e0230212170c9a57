-- The people that a message mentions. A message that mentions all has one row, with the user_id 0.
CREATE TABLE mentions (
  chat_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL, -- of the message
  PRIMARY KEY (chat_id, user_id, message_id)
) STRICT, WITHOUT ROWID;
