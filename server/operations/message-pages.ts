import type { MessageId, OperationName, UserId } from '@parley/contract';
import { textsOf } from '../store/chat/messages.ts';
import type { Services } from './operation.ts';
import * as present from './present.ts';
import { PreparedJson } from './results.ts';

type Shown = Pick<Services, 'engine' | 'files'>;

/** Returns the field `messages` of a response: those with these ids, in their order, as one user sees them. */
export async function messagesField(
  { engine, files }: Shown,
  userId: UserId,
  ids: readonly MessageId[],
): Promise<string> {
  const { messages } = await present.renderMessages(engine, await textsOf(engine, ids), userId, files.url);
  return `"messages":${messages}`;
}

/** Returns a page of messages. `found` has one id more than `limit` if there are more. */
export async function messagePage<N extends OperationName>(
  shown: Shown,
  userId: UserId,
  found: MessageId[],
  limit: number,
): Promise<PreparedJson<N>> {
  const { rows, has_more } = present.page(found, limit);
  return new PreparedJson(`${await messagesField(shown, userId, rows)},"has_more":${has_more}`);
}
