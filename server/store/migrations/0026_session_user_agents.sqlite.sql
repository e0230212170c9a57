-- A session stores the User-Agent header of its browser, cut and cleaned. NULL: it is not known.
ALTER TABLE tokens ADD COLUMN user_agent TEXT;
