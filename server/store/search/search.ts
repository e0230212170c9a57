import type { MessageId } from '@parley/contract';
import type { Db } from '../engine/engine.ts';
import { searchAllInPostgres, searchInPostgres } from './search-in-postgres.ts';
import { searchAllInSqlite, searchInSqlite } from './search-in-sqlite.ts';
import type { SearchQuery, WordQuery } from './search-query.ts';

/** Returns the ids of the messages that contain all words, newest first. Their texts may be large. */
export const searchMessages = (db: Db, q: SearchQuery): Promise<MessageId[]> =>
  db.dialect.name === 'sqlite' ? searchInSqlite(db, q) : searchInPostgres(db, q);

/**
 * Like `searchMessages` in all chats of the user, at a cost that does not depend on their number. Returns undefined if other
 * chats have too many messages with these words: then the user's chats have to be searched.
 */
export const searchAllChats = (db: Db, q: WordQuery): Promise<MessageId[] | undefined> =>
  db.dialect.name === 'sqlite' ? searchAllInSqlite(db, q) : searchAllInPostgres(db, q);
