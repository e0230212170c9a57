-- The requests with each personal token, by day.
CREATE TABLE token_use (
  token_id bigint NOT NULL,
  day bigint NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (token_id, day)
);
CREATE INDEX token_use_by_day ON token_use (day);
