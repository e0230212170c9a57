import { program } from '@parley/server/lib/program.ts';
import type { Client, ClientOutput } from '@parley-chat/sdk';
import type { Read } from './command.ts';
import { suggestion } from './known.ts';
import { oneLine } from './output.ts';

/** A chat as a person types it: an id, `@name` for the direct chat with somebody, or the name of a chat. */
export type ChatReference = number | string;

export const chatReference: Read<ChatReference> = (typed) => {
  if (/^[1-9]\d{0,15}$/.test(typed) && Number.isSafeInteger(Number(typed))) return Number(typed);
  // Ids begin with 1, and a name of digits can be given with --query of parley chats.
  if (/^@?$|^\d+$/.test(typed.trim())) throw new Error('the id or name of a chat, or @person');
  return typed;
};

type Chat = ClientOutput<'chats.list'>['chats'][number];
type User = ClientOutput<'users.search'>['users'][number];

/**
 * Returns the id of a chat. Throws if no chat or several have the name. With `isOpened`, the direct chat with a person is opened
 * if there is none yet.
 */
export async function chatIdOf(client: Client, chat: ChatReference, isOpened = false): Promise<number> {
  if (typeof chat === 'number') return chat;
  return chat.startsWith('@') ? directChat(client, chat.slice(1), isOpened) : namedChat(client, chat);
}

/** The same for an option. */
export const idOf = async (client: Client, chat: ChatReference | undefined): Promise<number | undefined> =>
  chat === undefined ? undefined : chatIdOf(client, chat);

async function directChat(client: Client, name: string, isOpened: boolean): Promise<number> {
  const user = await findPerson(client, name);
  if (isOpened) return (await client.messages.create_direct({ user_id: user.user_id })).chat.chat_id;
  for await (const chat of client.chats.list.all({ limit: 200 })) {
    if (chat.peer?.user_id === user.user_id) return chat.chat_id;
  }
  throw new Error(oneLine(`You have no direct chat with @${user.name} yet.`));
}

/** The search also finds names that only contain the text, so the person can be on any page. */
async function findPerson(client: Client, name: string): Promise<User> {
  const others: string[] = [];
  for await (const user of client.users.search.all({ query: name, limit: 200 })) {
    if (isSame(user.name, name)) return user;
    others.push(`@${user.name}`);
  }
  throw new Error(oneLine(`There is no person @${name}.${suggestion(`@${name}`, others)}`));
}

async function namedChat(client: Client, name: string): Promise<number> {
  const all: Chat[] = await Array.fromAsync(client.chats.list.all({ limit: 200 }));
  const found = all.filter((chat) => isSame(chat.name ?? '', name));
  const [first, second] = found;
  if (!first) {
    const names = all.flatMap((chat) => chat.name ?? []);
    throw new Error(
      oneLine(`You have no chat ${JSON.stringify(name)}.${suggestion(name, names)} See: ${program} chats`),
    );
  }
  if (!second) return first.chat_id;
  const ids = found.map(({ chat_id }) => chat_id).join(', ');
  throw new Error(oneLine(`Several of your chats are called ${JSON.stringify(name)}. Give an id: ${ids}`));
}

const isSame = (one: string, other: string): boolean =>
  one.localeCompare(other, undefined, { sensitivity: 'accent' }) === 0;
