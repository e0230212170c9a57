import type { Client, ClientOutput } from '@parley-chat/sdk';
import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { otherParticipants } from '../lookups.ts';
import { hint, oneLine, printJson } from '../output.ts';
import { printTable } from '../table.ts';
import { connection, cursor, json, positive, text } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    public: { summary: 'List public channels, which anyone may join, and not your own chats.' },
    query: { value: 'text', summary: 'Only chats whose name contains the text.', read: text },
    limit: { value: 'number', summary: 'The maximum number of chats. Defaults to 50.', read: positive },
    after: { value: 'chat_id', summary: 'Only chats after this one.', read: cursor },
    json,
    ...connection,
  },
  prints: 'chats.list',
  async run(_, { public: others, query, limit, after, json, ...where }, context) {
    const { client } = openConnection(where, context);
    const page = await client.chats.list({ scope: others ? 'public' : 'mine', query, limit, after_id: after });
    if (json) return printJson(context, page);
    if (page.chats.length === 0) return hint(context, 'No chats.');
    await printTable(context, [['id', 'type', 'unread', 'name'], ...(await chatRows(client, page.chats))]);
    if (page.has_more) await hint(context, `There are more: --after ${page.chats.at(-1)?.chat_id}`);
  },
});

type Chat = ClientOutput<'chats.list'>['chats'][number];

async function chatRows(client: Client, chats: readonly Chat[]): Promise<string[][]> {
  const me = chats.some((chat) => chat.type === 'direct') ? (await client.users.me()).user.user_id : 0;
  return Promise.all(
    chats.map(async (chat) => [
      String(chat.chat_id),
      chat.type,
      String(chat.unread_count),
      oneLine(chat.name ?? (await otherParticipants(client, chat.chat_id, me))),
    ]),
  );
}
