-- Ids that the log has passed over when a backup was restored: after the last event of the backup, and up to the one from which
-- it goes on. Events that were told under them are gone, and so is what a cursor among them stands for.
CREATE TABLE log_gaps (
  after_event BIGINT PRIMARY KEY,
  up_to BIGINT NOT NULL
);
