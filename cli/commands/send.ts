import { defineCommand } from '../command.ts';
import { connect } from '../connection.ts';
import { readStdin, stdinIsTerminal } from '../input.ts';
import { print, printJson } from '../output.ts';
import { UsageError } from '../usage.ts';
import { connection, json, positive, text } from '../values.ts';

export const command = defineCommand({
  arguments: {
    chat_id: { summary: 'The chat to send to.', read: positive },
    text: { summary: 'The message; - or nothing reads it from standard input.', read: text, rest: true },
  },
  options: {
    'reply-to': { value: 'message_id', summary: 'The message that this one answers.', read: positive },
    json,
    ...connection,
  },
  async run({ chat_id, text: typed }, { json, 'reply-to': reply_to, ...where }) {
    const client = connect(where);
    const content = await readContent(typed);
    const sent = await client.messages.send_message({ chat_id, content, reply_to });
    if (json) return printJson(sent);
    await print(`Sent message ${sent.message.message_id} to chat ${chat_id}.`);
  },
});

async function readContent(typed: readonly string[]): Promise<string> {
  if (typed.length > 1 || (typed.length === 1 && typed[0] !== '-')) return typed.join(' ');
  if (typed.length === 0 && stdinIsTerminal()) throw new UsageError('<text> is missing.');
  return readStdin();
}
