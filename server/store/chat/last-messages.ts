import type { MessageId, UserId } from '@parley/contract';
import { type Db, perDialect } from '../engine/engine.ts';

/** The newest message of a chat as a list of chats shows it. */
export interface LastMessageRow {
  readonly message_id: MessageId;
  readonly user_id: UserId;
  readonly name: string;
  readonly display_name: string;
  /** The first characters of the text. */
  readonly content: string;
  /** The name of its file. */
  readonly file: string | null;
  readonly created_at: string;
}

const maxCharacters = 200;

/** The database cuts the texts: the messages of a page of chats may have 3 MB together. */
const query = perDialect(({ name, rows }) => {
  const field = {
    sqlite: (path: readonly string[]) => `json_extract(m.json, '$.${path.join('.')}')`,
    postgres: (path: readonly string[]) => `(CAST(m.json AS json) #>> '{${path.join(',')}}')`,
  }[name];
  return `SELECT m.message_id, m.user_id, u.name, u.display_name, substr(${field(['content'])}, 1, ${maxCharacters}) AS content,
      ${field(['file', 'name'])} AS file, ${field(['created_at'])} AS created_at
    FROM ${rows('$1', { message_id: 'int' }, 'asked')}
    JOIN messages m ON m.message_id = asked.message_id JOIN users u ON u.user_id = m.user_id`;
});

/** Returns messages by id. */
export async function lastMessages(
  db: Db,
  messageIds: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, LastMessageRow>> {
  if (messageIds.length === 0) return new Map();
  const asked = JSON.stringify(messageIds.map((message_id) => ({ message_id })));
  const rows = await db.all<LastMessageRow>(query(db), [asked]);
  return new Map(rows.map((row) => [row.message_id, row]));
}
