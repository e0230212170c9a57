ALTER TABLE files ADD COLUMN width BIGINT; -- of an upright image, NULL: not an image that can be decoded
ALTER TABLE files ADD COLUMN height BIGINT;
ALTER TABLE files ADD COLUMN thumbnail_size BIGINT; -- in bytes, NULL: not made yet, 0: it cannot be made
