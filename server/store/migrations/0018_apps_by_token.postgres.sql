-- 1: registered with an access token, and not confirmed by its owner in a browser.
ALTER TABLE apps ADD COLUMN by_token BIGINT NOT NULL DEFAULT 0;
