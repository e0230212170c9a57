import type { MessageRow } from '../chat/messages.ts';
import type { Db } from '../engine/engine.ts';
import { searchAllInPostgres, searchInPostgres } from './search-in-postgres.ts';
import { searchAllInSqlite, searchInSqlite } from './search-in-sqlite.ts';
import type { SearchQuery, WordQuery } from './search-query.ts';

/** Returns the messages that contain all words, newest first. */
export const searchMessages = (db: Db, q: SearchQuery): Promise<MessageRow[]> =>
  db.dialect.name === 'sqlite' ? searchInSqlite(db, q) : searchInPostgres(db, q);

/**
 * Like `searchMessages` in all chats of the user, at a cost that does not depend on their number. Returns undefined if other
 * chats have too many messages with these words: then the user's chats have to be searched.
 */
export const searchAllChats = (db: Db, q: WordQuery): Promise<MessageRow[] | undefined> =>
  db.dialect.name === 'sqlite' ? searchAllInSqlite(db, q) : searchAllInPostgres(db, q);
