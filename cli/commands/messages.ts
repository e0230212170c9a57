import { defineCommand } from '../command.ts';
import { connect } from '../connection.ts';
import { messageLines } from '../message-lines.ts';
import { Names } from '../names.ts';
import { hint, print, printJson } from '../output.ts';
import { connection, cursor, json, positive } from '../values.ts';

export const command = defineCommand({
  arguments: { chat_id: { summary: 'The chat to read.', read: positive } },
  options: {
    limit: { value: 'number', summary: 'How many at most; 50 where it is not given.', read: positive },
    before: { value: 'message_id', summary: 'Those before this message.', read: positive },
    after: { value: 'message_id', summary: 'Those after this message; 0 starts at the oldest.', read: cursor },
    json,
    ...connection,
  },
  notes: 'These are the newest where neither --before nor --after is given; the oldest of them stands first.',
  async run({ chat_id }, { limit, before, after, json, ...where }, context) {
    const client = connect(where, context);
    const page = await client.messages.get_messages({ chat_id, limit, before_id: before, after_id: after });
    if (json) return printJson(context, page);
    await print(context, ...(await messageLines(page.messages, new Names(client), context.env)));
    if (page.messages.length === 0) await hint(context, 'There are no messages.');
    if (page.has_more)
      await hint(context, `There are more: parley messages ${chat_id} ${onwards(page.messages, after)}`);
  },
});

function onwards(messages: readonly { message_id: number }[], after: number | undefined): string {
  return after === undefined ? `--before ${messages[0]?.message_id}` : `--after ${messages.at(-1)?.message_id}`;
}
