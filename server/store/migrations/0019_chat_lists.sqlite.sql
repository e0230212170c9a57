-- What a participant chose for a chat.
ALTER TABLE members ADD COLUMN notify TEXT NOT NULL DEFAULT 'all'; -- all, mentions, none
ALTER TABLE members ADD COLUMN muted_until INTEGER;
ALTER TABLE members ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;

-- The newest message of the service when the user joined, so that a chat without messages has a place in the order of activity.
ALTER TABLE members ADD COLUMN joined_message INTEGER NOT NULL DEFAULT 0;

-- All that the order of activity reads. SQLite uses no index alone without the column of its condition.
CREATE INDEX members_of_user ON members (user_id, is_archived, chat_id, joined_message, joined_event, is_pinned, left_event)
WHERE left_event IS NULL;

-- The ids of the pinned messages as JSON, the newest pin first.
ALTER TABLE chats ADD COLUMN pins TEXT NOT NULL DEFAULT '[]';
