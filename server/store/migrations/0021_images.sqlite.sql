ALTER TABLE files ADD COLUMN width INTEGER; -- of an upright image, NULL: not an image that can be decoded
ALTER TABLE files ADD COLUMN height INTEGER;
ALTER TABLE files ADD COLUMN thumbnail_size INTEGER; -- in bytes, NULL: not made yet, 0: it cannot be made
