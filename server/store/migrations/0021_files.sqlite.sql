ALTER TABLE files ADD COLUMN width INTEGER; -- of an upright image, NULL: not an image that can be decoded
ALTER TABLE files ADD COLUMN height INTEGER;
ALTER TABLE files ADD COLUMN thumbnail_size INTEGER; -- in bytes, NULL: not made yet, 0: it cannot be made

-- The files of a message after its first, which is in messages.file_id.
CREATE TABLE message_files (
  message_id INTEGER NOT NULL,
  file_id INTEGER NOT NULL,
  chat_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_files_by_file ON message_files (file_id, chat_id);
