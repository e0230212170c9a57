import { program } from '@parley/server/lib/program.ts';
import { chatIdOf, chatReference } from '../chat-reference.ts';
import { defineCommand } from '../command.ts';
import { openConnection } from '../connection.ts';
import { userNames } from '../lookups.ts';
import { messageLines } from '../message-lines.ts';
import { hint, print, printJson } from '../output.ts';
import { connection, cursor, json, positive } from '../values.ts';

export const command = defineCommand({
  arguments: { chat: { summary: 'The chat to read: its id, its name, or @person.', read: chatReference } },
  options: {
    limit: { value: 'number', summary: 'The maximum number of messages. Defaults to 50.', read: positive },
    before: { value: 'message_id', summary: 'Only messages before this one.', read: positive },
    after: { value: 'message_id', summary: 'Only messages after this one. 0 starts with the oldest.', read: cursor },
    json,
    ...connection,
  },
  prints: 'messages.get_messages',
  notes: 'Without --before and --after it shows the newest messages. The oldest of them comes first.',
  async run({ chat }, { limit, before, after, json, ...where }, context) {
    const { client } = openConnection(where, context);
    const chat_id = await chatIdOf(client, chat);
    const page = await client.messages.get_messages({ chat_id, limit, before_id: before, after_id: after });
    if (json) return printJson(context, page);
    await print(context, ...(await messageLines(page.messages, userNames(client), context.env)));
    if (page.messages.length === 0) await hint(context, 'No messages.');
    if (page.has_more)
      await hint(context, `There are more: ${program} messages ${chat_id} ${nextPage(page.messages, after)}`);
  },
});

function nextPage(messages: readonly { message_id: number }[], after: number | undefined): string {
  return after === undefined ? `--before ${messages[0]?.message_id}` : `--after ${messages.at(-1)?.message_id}`;
}
