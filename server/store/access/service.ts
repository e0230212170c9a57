import type { ChatId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';

/** The settings that administrators choose for everybody. */
export interface ServiceRow {
  readonly name: string;
  readonly welcome_chat_id: ChatId | null;
}

export async function readService(db: Db): Promise<ServiceRow> {
  const row = await db.get<ServiceRow>('SELECT name, welcome_chat_id FROM service', []);
  if (!row) throw new Error('service has no row');
  return row;
}

export async function updateService(tx: Tx, { name, welcome_chat_id }: ServiceRow): Promise<void> {
  await tx.run('UPDATE service SET name = $1, welcome_chat_id = $2', [name, welcome_chat_id]);
}
