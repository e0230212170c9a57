ALTER TABLE users ADD COLUMN status_text TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN time_zone TEXT; -- a name of the IANA database
ALTER TABLE users ADD COLUMN avatar TEXT; -- changes with the picture, NULL: there is none
CREATE INDEX users_administrators ON users (user_id) WHERE is_admin = 1;

-- The pictures of users, as WebP in base64. They are small, and change in one transaction with their event.
CREATE TABLE avatars (
  user_id INTEGER NOT NULL REFERENCES users (user_id),
  pixels INTEGER NOT NULL, -- of each side
  picture TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, pixels)
) STRICT;
