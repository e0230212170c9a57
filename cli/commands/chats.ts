import type { Client, ClientOutput } from '@parley/sdk';
import { defineCommand } from '../command.ts';
import { connect } from '../connection.ts';
import { hint, print, printJson } from '../output.ts';
import { columns } from '../table.ts';
import { oneLine } from '../terminal.ts';
import { connection, cursor, json, positive, text } from '../values.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    public: { summary: 'The public channels that anyone may join, in place of your own chats.' },
    query: { value: 'text', summary: 'Those whose name contains the text.', read: text },
    limit: { value: 'number', summary: 'How many at most; 50 where it is not given.', read: positive },
    after: { value: 'chat_id', summary: 'Those after this chat.', read: cursor },
    json,
    ...connection,
  },
  async run(_, { public: others, query, limit, after, json, ...where }, context) {
    const client = connect(where, context);
    const page = await client.chats.list({ scope: others ? 'public' : 'mine', query, limit, after_id: after });
    if (json) return printJson(context, page);
    if (page.chats.length === 0) return hint(context, 'There are no such chats.');
    await print(context, ...(await chatLines(client, page.chats)));
    if (page.has_more) await hint(context, `There are more: --after ${page.chats.at(-1)?.chat_id}`);
  },
});

type Chat = ClientOutput<'chats.list'>['chats'][number];

async function chatLines(client: Client, chats: readonly Chat[]): Promise<string[]> {
  const me = chats.some((chat) => chat.type === 'direct') ? (await client.users.me()).user.user_id : 0;
  const rows = chats.map(async (chat) => [
    String(chat.chat_id),
    chat.type,
    String(chat.unread_count),
    oneLine(chat.name ?? (await partners(client, chat, me))),
  ]);
  return columns([['id', 'type', 'unread', 'name'], ...(await Promise.all(rows))]);
}

/** A direct chat has no name of its own: it is known by who else is in it. */
async function partners(client: Client, { chat_id }: Chat, me: number): Promise<string> {
  const { participants } = await client.chats.participants({ chat_id });
  return participants
    .filter((p) => p.user_id !== me)
    .map((p) => p.name)
    .join(', ');
}
