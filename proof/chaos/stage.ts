import { Client } from '../../server/test/support/client.ts';
import type { EngineName } from '../../server/test/support/engines.ts';
import { startPostgres } from '../../server/test/support/postgres.ts';
import { freshEnvironment, startParley } from '../bench/parley.ts';
import type { Message } from './evidence.ts';

/** The means to set up what a fault happens to, and to look at it afterwards. */

export async function environmentFor(engine: EngineName): Promise<Record<string, string>> {
  if (engine === 'sqlite') return freshEnvironment();
  const postgres = await startPostgres({ fsync: true });
  return freshEnvironment(await postgres.emptyDatabase());
}

export interface People {
  readonly owner: Client;
  readonly authors: readonly [Client, ...Client[]];
}

/** Makes users beside a first server, which is stopped as one should. They will call the one at `url`. */
export async function makePeople(env: Record<string, string>, url: string): Promise<People> {
  await using parley = await startParley(env);
  const make = async (name: string) => {
    const { token, userId } = await parley.user(name);
    return new Client(url, token, userId);
  };
  const owner = await make('owner');
  const authors: [Client, ...Client[]] = [await make('ada')];
  for (const name of ['bob', 'cleo', 'dan']) authors.push(await make(name));
  return { owner, authors };
}

/** Groups with everybody in them. */
export async function makeChats({ owner, authors }: People, count: number): Promise<[number, ...number[]]> {
  const participants = authors.map(({ userId }) => userId);
  const make = async (number: number) => {
    const { group } = await owner.ok('messages.create_group', { name: `Chat ${number}`, participants });
    return group.chat_id;
  };
  const chats: [number, ...number[]] = [await make(1)];
  while (chats.length < count) chats.push(await make(chats.length + 1));
  return chats;
}

/** Every message of these chats, page by page. */
export async function readMessages(reader: Client, chats: readonly number[]): Promise<Message[]> {
  const found: Message[] = [];
  for (const chat_id of chats) {
    for (let after_id = 0, more = true; more; ) {
      const page = await reader.ok('messages.get_messages', { chat_id, after_id, limit: 200 });
      found.push(...page.messages.map(({ message_id, content }) => ({ message_id, chat_id, content })));
      after_id = page.messages.at(-1)?.message_id ?? after_id;
      more = page.has_more;
    }
  }
  return found;
}
