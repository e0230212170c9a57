-- The requests with each personal token, by day.
CREATE TABLE token_use (
  token_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (token_id, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_use_by_day ON token_use (day);
