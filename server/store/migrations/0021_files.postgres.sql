ALTER TABLE files ADD COLUMN width BIGINT; -- of an upright image, NULL: not an image that can be decoded
ALTER TABLE files ADD COLUMN height BIGINT;
ALTER TABLE files ADD COLUMN thumbnail_size BIGINT; -- in bytes, NULL: not made yet, 0: it cannot be made

-- The files of a message after its first, which is in messages.file_id.
CREATE TABLE message_files (
  message_id BIGINT NOT NULL,
  file_id BIGINT NOT NULL,
  chat_id BIGINT NOT NULL,
  PRIMARY KEY (message_id, file_id)
);
CREATE INDEX message_files_by_file ON message_files (file_id, chat_id);
