-- The words of the search index in their order, by which it is found out which words begin with some letters. It keeps nothing itself.
CREATE VIRTUAL TABLE message_terms USING fts5vocab (message_words, instance);
