-- 1: others see this user as offline, by their own choice.
ALTER TABLE users ADD COLUMN hides_presence INTEGER NOT NULL DEFAULT 0;
