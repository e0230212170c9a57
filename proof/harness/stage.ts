import { temporaryFolder } from '../../server/test/support/cleanup.ts';
import type { Client } from '../../server/test/support/client.ts';
import type { TestServer } from '../../server/test/support/server.ts';
import type { Environment } from './child.ts';
import type { Message } from './evidence.ts';

/** Returns the environment of a server with a data folder of its own, on disk. */
export const environment = (more: Environment = {}): Record<string, string> => ({
  HOST: '127.0.0.1',
  PARLEY_DATA: temporaryFolder(),
  PARLEY_RATE_LIMIT: 'off',
  PARLEY_WEBHOOK_LIMIT: '20000',
  PARLEY_MESSAGES_PER_DAY: 'off',
  PARLEY_FILE_BYTES_PER_PERSON: 'off',
  LOG_LEVEL: 'warn',
  ...more,
});

/** Returns a key that several servers can share. */
export const secretKey = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');

export type Some<T> = readonly [T, ...T[]];

export type People = Awaited<ReturnType<typeof makePeople>>;

/** People and chats on a server. */
export type Stage = Awaited<ReturnType<typeof makeStage>>;

/** Does something `count` times in order, at least once. */
async function times<T>(count: number, make: (i: number) => Promise<T>): Promise<Some<T>> {
  const all: [T, ...T[]] = [await make(1)];
  while (all.length < count) all.push(await make(all.length + 1));
  return all;
}

/** Does something `count` times, some of them concurrently. */
export async function inParallel(workers: number, count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const worker = async () => {
    while (begun < count) await work(begun++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

export const makeUsers = (server: TestServer, name: string, count: number): Promise<Some<Client>> =>
  times(count, (i) => server.user(`${name}-${i}`));

export async function makePeople(server: TestServer, writers: number) {
  return {
    /** In every chat, from the first to the last event. */
    owner: await server.user('owner'),
    /** In every chat too, and allowed to write there. */
    writers: await makeUsers(server, 'writer', writers),
    /** They join and leave channels. */
    visitors: await makeUsers(server, 'visitor', 2),
    /** The owner adds them to groups and removes them. */
    guests: await makeUsers(server, 'guest', 2),
    /** In no chat. */
    stranger: await server.user('stranger'),
  };
}

export async function makeGroup(owner: Client, members: readonly Client[], name = 'Group'): Promise<number> {
  const participants = members.filter((member) => member !== owner).map(({ userId }) => userId);
  return (await owner.ok('messages.create_group', { name, participants })).group.chat_id;
}

async function makeChannel(owner: Client, writers: readonly Client[], name: string): Promise<number> {
  const participants = writers.map(({ userId }) => userId);
  const { chat_id } = (await owner.ok('messages.create_channel', { name, participants })).channel;
  for (const user_id of participants) await owner.ok('chats.set_role', { chat_id, user_id, role: 'admin' });
  return chat_id;
}

/** Makes groups, and public channels in which all writers may post. */
export async function makeStage(people: People, sizes: { groups: number; channels: number }) {
  const { owner, writers } = people;
  const groups = await times(sizes.groups, (i) => makeGroup(owner, writers, `Group ${i}`));
  const channels = await times(sizes.channels, (i) => makeChannel(owner, writers, `Channel ${i}`));
  const chats: Some<number> = [...groups, ...channels];
  return { ...people, groups, channels, chats };
}

/** Returns every message of these chats, page by page. */
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
