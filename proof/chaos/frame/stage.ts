import { addUser, issueToken } from '../../../server/auth/administer.ts';
import { openTools } from '../../../server/compose/tools.ts';
import { readSettings } from '../../../server/config.ts';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { Client } from '../../../server/test/support/client.ts';
import type { Environment } from './trial.ts';

type Some<T> = readonly [T, ...T[]];

/** Who takes part, and where. */
export interface Stage {
  /** In every chat, from the first to the last event. */
  readonly owner: Client;
  /** In every chat too, and allowed to write there. */
  readonly writers: Some<Client>;
  /** They join channels and leave them. */
  readonly visitors: Some<Client>;
  /** They are brought into groups and sent away. */
  readonly guests: Some<Client>;
  /** In no chat at all. */
  readonly stranger: Client;
  readonly groups: Some<number>;
  readonly channels: Some<number>;
  readonly chats: Some<number>;
}

export type People = Pick<Stage, 'owner' | 'writers' | 'visitors' | 'guests' | 'stranger'>;

/** What each of the nodes is started with: all share the key and what is `shared`, such as the database, and nothing else. */
export function environmentsFor(count: number, shared: Environment): Environment[] {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
  return Array.from({ length: count }, () => ({
    HOST: '127.0.0.1',
    PARLEY_DATA: temporaryFolder(),
    PARLEY_RATE_LIMIT: 'off',
    PARLEY_SECRET_KEY: key,
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ...shared,
  }));
}

/** Makes users in the database of nodes that have been started. */
export async function makePeople(env: Environment, url: string): Promise<People> {
  const tools = await openTools(readSettings(env));
  const make = async (name: string) => {
    const { user_id } = await addUser(tools, { name, isAdmin: false });
    const { accessToken } = await issueToken(tools, { userName: name, name: 'chaos' });
    return new Client(url, accessToken, user_id);
  };
  try {
    return {
      owner: await make('owner'),
      writers: [await make('ada'), await make('bob'), await make('cleo'), await make('dan'), await make('eve')],
      visitors: [await make('vera'), await make('vito')],
      guests: [await make('gil'), await make('gia')],
      stranger: await make('sam'),
    };
  } finally {
    await tools.engine.close();
  }
}

/** Groups, and public channels in which all writers may post. */
export async function makeChats(people: People): Promise<Stage> {
  const { owner, writers } = people;
  const participants = writers.map(({ userId }) => userId);
  const group = async (name: string) => (await owner.ok('messages.create_group', { name, participants })).group.chat_id;
  const channel = async (name: string) => {
    const { chat_id } = (await owner.ok('messages.create_channel', { name, participants })).channel;
    for (const user_id of participants) await owner.ok('chats.set_role', { chat_id, user_id, role: 'admin' });
    return chat_id;
  };
  const groups = [await group('one'), await group('two'), await group('three'), await group('four')] as const;
  const channels = [await channel('news'), await channel('more news')] as const;
  return { ...people, groups, channels, chats: [...groups, ...channels] };
}
