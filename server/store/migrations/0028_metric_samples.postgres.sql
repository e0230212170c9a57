-- The metrics of each minute, from all servers together. Rows older than two days are deleted.
CREATE TABLE metric_samples (
  minute BIGINT PRIMARY KEY, -- minutes since 1970
  messages BIGINT NOT NULL,
  requests BIGINT NOT NULL,
  server_errors BIGINT NOT NULL, -- responses with a status of 500 and above
  streams BIGINT NOT NULL,
  people_online BIGINT NOT NULL,
  first_attempts BIGINT NOT NULL, -- at webhooks
  first_attempt_lag_ms BIGINT NOT NULL, -- from the commits of their events, all together
  backlog BIGINT NOT NULL,
  disk_free BIGINT NOT NULL, -- of the server with the least
  disk_total BIGINT NOT NULL
);
