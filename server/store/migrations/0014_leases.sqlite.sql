-- Uploads and webhooks keep their leases in the same columns. A lease that was released has expired at 0.
ALTER TABLE files ADD COLUMN lease_expires_at INTEGER NOT NULL DEFAULT 0; -- by the clock of the database
UPDATE files SET lease_expires_at = lease_until WHERE lease_until IS NOT NULL;
ALTER TABLE files DROP COLUMN lease_until;

ALTER TABLE idempotency RENAME COLUMN answer TO response;
UPDATE endpoint_state SET down_cause = 'responses' WHERE down_cause = 'answers';
