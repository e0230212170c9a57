import { ApiError, type Client } from '@parley-chat/sdk';

export type Lookup = ReturnType<typeof lookup>;

/**
 * Looks up names by id, each once. Failures are cached too. An id that the server refuses to resolve is shown with its kind,
 * such as `user 7`.
 */
function lookup(kind: string, find: (id: number) => Promise<string>) {
  const known = new Map<number, Promise<string>>();
  const findOrName = (id: number) =>
    find(id).catch((error) => {
      if (error instanceof ApiError) return `${kind} ${id}`;
      throw error;
    });
  return {
    of: (id: number): Promise<string> => {
      const found = known.get(id) ?? findOrName(id);
      known.set(id, found);
      return found;
    },
    forget: (id: number) => known.delete(id),
  };
}

export const userNames = (client: Client): Lookup =>
  lookup('user', async (user_id) => (await client.users.get({ user_id })).user?.name ?? '');

/** Titles of chats: their names, or for direct chats the other participants. */
export const chatTitles = (client: Client, me: number): Lookup =>
  lookup('chat', async (chat_id) => {
    const { chat } = await client.chats.get({ chat_id });
    const name = chat.name ?? (await otherParticipants(client, chat_id, me));
    return name === '' ? `chat ${chat_id}` : `${name} (${chat_id})`;
  });

export async function otherParticipants(client: Client, chat_id: number, me: number): Promise<string> {
  const { participants } = await client.chats.participants({ chat_id });
  const others = participants.filter(({ user_id }) => user_id !== me);
  return others.map(({ name }) => name).join(', ');
}
