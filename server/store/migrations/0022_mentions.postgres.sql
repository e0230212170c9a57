-- The people that a message mentions. A message that mentions all has one row, with the user_id 0.
CREATE TABLE mentions (
  chat_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  message_id BIGINT NOT NULL,
  author_id BIGINT NOT NULL, -- of the message
  PRIMARY KEY (chat_id, user_id, message_id)
);
