-- The event of a message refers to it instead of repeating its text. Events that exist keep their bodies.
ALTER TABLE events ADD COLUMN message_id INTEGER;
ALTER TABLE events ADD COLUMN format INTEGER;
ALTER TABLE messages ADD COLUMN event_id INTEGER;
