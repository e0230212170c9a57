-- The names of the field: which process delivers to a webhook, and whether its endpoint works.
DROP INDEX drives_due;
DROP INDEX drives_held;
ALTER TABLE drives RENAME TO endpoint_state;
ALTER TABLE endpoint_state RENAME COLUMN lease_until TO lease_expires_at;
ALTER TABLE endpoint_state RENAME COLUMN filled TO delivery_count;
CREATE INDEX endpoint_state_due ON endpoint_state (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX endpoint_state_owned ON endpoint_state (owner) WHERE owner IS NOT NULL;
ALTER TABLE replays RENAME COLUMN filled_count TO delivery_count;
