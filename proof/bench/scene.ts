import type { Client } from '../../server/test/support/client.ts';
import { fillChat } from './fill.ts';
import { getMessages, type ParleyUnderTest, type Request } from './parley.ts';

/** The means to set up what is measured. */

/** Of every webhook here. */
export const secret = 'a secret of the bench';

export const makeUsers = (parley: ParleyUnderTest, count: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => parley.user(`bench-${i}`)));

export async function makeChat(owner: Client, participants: readonly Client[]): Promise<number> {
  const others = participants.filter((p) => p !== owner).map((p) => p.userId);
  return (await owner.ok('messages.create_group', { name: 'bench', participants: others })).group.chat_id;
}

export async function makeChats(owner: Client, count: number, participants: readonly Client[] = []): Promise<number[]> {
  const chats: number[] = [];
  await atOnce(16, count, async () => void chats.push(await makeChat(owner, participants)));
  return chats;
}

/** Does something so many times, some of them at once. */
export async function atOnce(workers: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
  let begun = 0;
  const worker = async () => {
    while (begun < count) await work(begun++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** What the readers of a chat ask for. All but `kept` give bounds: such pages the server reads from the database. */
export interface Pages {
  readonly kept: Request[];
  readonly newest: Request[];
  /** Each request for another page. */
  readonly middle: Request[];
  readonly oldest: Request[];
}

const middlePages = 400;

/** What some users of a chat may ask for. */
export async function pagesOf(parley: ParleyUnderTest, users: readonly Client[], chat: number): Promise<Pages> {
  const { newest, size } = await extentOf(parley, chat);
  const before = (id: number) => ({ before_id: String(id) });
  const ask = (bounds?: Record<string, string>) => users.map((user) => getMessages(user, chat, bounds));
  return {
    kept: ask(),
    newest: ask(before(newest + 1)),
    middle: Array.from({ length: middlePages / users.length }, (_, i) =>
      users.map((u, j) => getMessages(u, chat, before(newest - (size - middlePages) / 2 - i * users.length - j))),
    ).flat(),
    oldest: ask({ after_id: '0' }),
  };
}

/** Makes a chat of a size that these users are in. */
export async function makeFilledChat(parley: ParleyUnderTest, users: readonly Client[], size: number): Promise<number> {
  const owner = first(users);
  const chat = await makeChat(owner, users);
  await fillChat(parley.engine, owner, chat, size);
  return chat;
}

async function extentOf({ engine }: ParleyUnderTest, chatId: number): Promise<{ newest: number; size: number }> {
  const sql = 'SELECT max(message_id) AS newest, count(*) AS size FROM messages WHERE chat_id = $1';
  return (await engine.get<{ newest: number; size: number }>(sql, chatId)) ?? { newest: 0, size: 0 };
}

export async function countMessages({ engine }: ParleyUnderTest): Promise<number> {
  return (await engine.get<{ n: number }>('SELECT count(*) AS n FROM messages'))?.n ?? 0;
}

export function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
}
