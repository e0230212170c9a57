-- The index holds each word with its chat and without, so it is built again from the messages after this migration.
INSERT INTO message_words (message_words) VALUES ('delete-all');
-- Parley merges bounded parts of the index. By itself FTS5 merges rarely, and then much at once.
INSERT INTO message_words (message_words, rank) VALUES ('automerge', 0), ('usermerge', 2);
