-- The metrics of each minute, from all servers together. Rows older than two days are deleted.
CREATE TABLE metric_samples (
  minute INTEGER PRIMARY KEY, -- minutes since 1970
  messages INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  server_errors INTEGER NOT NULL, -- responses with a status of 500 and above
  streams INTEGER NOT NULL,
  people_online INTEGER NOT NULL,
  first_attempts INTEGER NOT NULL, -- at webhooks
  first_attempt_lag_ms INTEGER NOT NULL, -- from the commits of their events, all together
  backlog INTEGER NOT NULL,
  disk_free INTEGER NOT NULL, -- of the server with the least
  disk_total INTEGER NOT NULL
) STRICT;
