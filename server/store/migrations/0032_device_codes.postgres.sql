-- Requests of devices without a browser (RFC 8628). A person enters the short code elsewhere, and the device polls with the long one.
CREATE TABLE device_codes (
  hash TEXT PRIMARY KEY, -- of the long code
  user_code_hash TEXT NOT NULL UNIQUE, -- of the short code
  app_id BIGINT NOT NULL REFERENCES apps (app_id),
  scopes TEXT NOT NULL, -- names separated by spaces
  interval_ms BIGINT NOT NULL, -- the least time between two polls
  polled_at BIGINT, -- the last poll
  expires_at BIGINT NOT NULL,
  denied_at BIGINT,
  grant_id BIGINT REFERENCES grants (grant_id), -- NULL until a person allows it
  used_at BIGINT
);
CREATE INDEX device_codes_by_grant ON device_codes (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX device_codes_ending ON device_codes (expires_at);
