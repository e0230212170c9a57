-- The offsets at which the bytes of a file continue in a new segment, each as .<offset>.
ALTER TABLE files RENAME COLUMN cuts TO segments;
-- A password change ends the webhooks of sessions in its own transaction, whatever the clock says.
ALTER TABLE users DROP COLUMN password_changed_at;
