-- Why an attempt failed, for programs. Null in rows that are older than the column, and if it succeeded.
ALTER TABLE deliveries ADD COLUMN last_cause text;
ALTER TABLE attempts ADD COLUMN cause text;

-- Which secret of its webhook signed the last attempt, counted from 1, so that its signatures can be computed again.
ALTER TABLE deliveries ADD COLUMN secret_number bigint;
ALTER TABLE webhooks ADD COLUMN secret_number bigint NOT NULL DEFAULT 1;
-- The `previous_until` of the secret before the current one.
ALTER TABLE webhooks ADD COLUMN earlier_until bigint;
