-- The index holds each word with its chat and without, so it is built again from the messages after this migration.
TRUNCATE message_words;
