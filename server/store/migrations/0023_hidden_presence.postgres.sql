-- 1: others see this user as offline, by their own choice.
ALTER TABLE users ADD COLUMN hides_presence BIGINT NOT NULL DEFAULT 0;
