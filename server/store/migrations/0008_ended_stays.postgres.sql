-- Stays that ended before the oldest event that is kept are dropped.
CREATE INDEX members_left ON members (left_event) WHERE left_event IS NOT NULL;
