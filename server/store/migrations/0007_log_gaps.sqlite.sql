-- Ids that the log has passed over when a backup was restored: after the last event of the backup, and up to the one from which
-- it goes on. Events that were told under them are gone, and so is what a cursor among them stands for.
CREATE TABLE log_gaps (
  after_event INTEGER PRIMARY KEY,
  up_to INTEGER NOT NULL
) STRICT;
