import type { Client } from '../../../server/test/support/client.ts';
import { fillChat, lookAround, untilIndexed } from '../fill.ts';
import type { ParleyUnderTest } from '../parley.ts';
import { first, makeChat } from '../scene.ts';

/** In all messages of the chat, and in a few that lie evenly over it. */
export const common = 'quarterly';
export const rare = 'heliotrope';
const rareMessages = 10;

/** Makes a chat of a size in which words can be found, and waits until the server has read them all. */
export async function makeSearchableChat(
  parley: ParleyUnderTest,
  users: readonly Client[],
  size: number,
): Promise<number> {
  const owner = first(users);
  const chat = await makeChat(owner, users);
  for (let i = 0; i < rareMessages; i++) {
    await fillChat(parley.engine, owner, chat, size / rareMessages - 1, { searchable: true });
    await owner.ok('messages.send_message', { chat_id: chat, content: `The ${rare} in room ${i} needs water.` });
  }
  await untilIndexed(parley.engine, 600);
  await lookAround(parley.engine);
  return chat;
}
