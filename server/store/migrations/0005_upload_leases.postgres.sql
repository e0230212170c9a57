-- An upload that can be resumed goes on at any server on this database, and at one of them at a time: whoever writes to it
-- holds a lease. Files that come in one go have none.
ALTER TABLE files ADD COLUMN lease_number BIGINT NOT NULL DEFAULT 0; -- of the last lease, 0: there was none
ALTER TABLE files ADD COLUMN lease_until BIGINT; -- by the clock of the database, NULL: nobody writes
ALTER TABLE files ADD COLUMN is_wanted BIGINT NOT NULL DEFAULT 0; -- somebody else waits for the lease
ALTER TABLE files ADD COLUMN is_doubtful BIGINT NOT NULL DEFAULT 0; -- a lease has lapsed whose holder may write on
ALTER TABLE files ADD COLUMN cuts TEXT NOT NULL DEFAULT ''; -- where its bytes go on under another name: .<offset> for each time
