import type { ChatId, FileId, MessageId } from '@parley/contract';
import { bulkStatement, type Tx } from '../engine/engine.ts';

/** A file of a message after its first. The first is in the row of the message. */
export interface MoreFile {
  readonly message_id: MessageId;
  readonly file_id: FileId;
  readonly chat_id: ChatId;
}

const insertion = bulkStatement(
  { message_id: 'int', file_id: 'int', chat_id: 'int' },
  (source) => `INSERT INTO message_files (message_id, file_id, chat_id)
     SELECT message_id, file_id, chat_id FROM ${source} AS f`,
);

export async function insertMoreFiles(tx: Tx, files: readonly MoreFile[]): Promise<void> {
  await tx.bulk(
    insertion,
    files.map(({ message_id, file_id, chat_id }) => [message_id, file_id, chat_id]),
  );
}

export async function deleteMoreFiles(tx: Tx, messageId: MessageId): Promise<void> {
  await tx.run('DELETE FROM message_files WHERE message_id = $1', [messageId]);
}
