-- What administrators choose for everybody: one row.
CREATE TABLE service (
  name TEXT NOT NULL,
  -- New people join this chat by themselves.
  welcome_chat_id BIGINT REFERENCES chats (chat_id)
);
INSERT INTO service (name) VALUES ('Parley');
