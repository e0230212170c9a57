-- Those that were last tried at a time that is yet to come: the clock was set back.
CREATE INDEX deliveries_retrying ON deliveries (last_at) WHERE state = 'retrying';
