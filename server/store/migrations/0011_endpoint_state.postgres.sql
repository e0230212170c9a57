-- The names of the field: which process delivers to a webhook, and whether its endpoint works.
ALTER TABLE drives RENAME TO endpoint_state;
ALTER TABLE endpoint_state RENAME COLUMN lease_until TO lease_expires_at;
ALTER TABLE endpoint_state RENAME COLUMN filled TO delivery_count;
ALTER TABLE endpoint_state RENAME CONSTRAINT drives_pkey TO endpoint_state_pkey;
ALTER TABLE endpoint_state RENAME CONSTRAINT drives_webhook_id_fkey TO endpoint_state_webhook_id_fkey;
ALTER INDEX drives_due RENAME TO endpoint_state_due;
ALTER INDEX drives_held RENAME TO endpoint_state_owned;
ALTER TABLE replays RENAME COLUMN filled_count TO delivery_count;
