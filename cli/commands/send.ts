import { program } from '@parley/server/lib/program.ts';
import { chatIdOf, chatReference } from '../chat-reference.ts';
import { defineCommand, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { readStdin } from '../input.ts';
import { print, printJson } from '../output.ts';
import { connection, json, positive, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: {
    chat: { summary: 'The chat to send to: its id, its name, or @person.', read: chatReference },
    text: {
      summary: 'The message. With -, or with neither text nor file, it is read from standard input.',
      read: text,
      rest: true,
    },
  },
  options: {
    file: { value: 'path', summary: 'Upload this file, and send it with the text.', read: text },
    name: { value: 'name', summary: 'The name of the file on the server. Defaults to its own.', read: text },
    'file-id': { value: 'file_id', summary: 'Send a file that you have uploaded.', read: positive },
    'reply-to': { value: 'message_id', summary: 'The message that this one replies to.', read: positive },
    quiet,
    json,
    ...connection,
  },
  prints: 'messages.send_message',
  notes: `Interrupted uploads resume on the next run. See: ${program} upload --help`,
  async run({ chat, text: typed }, options, context) {
    const { file, name, 'file-id': file_id, 'reply-to': reply_to, json, quiet, ...where } = options;
    if (file !== undefined && file_id !== undefined) throw new UsageError('Give --file or --file-id, not both.');
    if (name !== undefined && file === undefined) throw new UsageError('--name requires --file.');
    const opened = openConnection(where, context);
    const content = await readContent(typed, file !== undefined || file_id !== undefined, context);
    const chat_id = await chatIdOf(opened.client, chat, true);
    const message = { chat_id, content, file_id, reply_to };
    const sent =
      file === undefined
        ? await opened.client.messages.send_message(message)
        : // Loaded on demand: most messages are text, and the upload code takes a while to load.
          await (await import('../upload/send-file.ts')).sendFile(
            opened,
            file,
            message,
            { name, json, quiet },
            context,
          );
    if (json) return printJson(context, sent);
    await print(context, `Sent message ${sent.message.message_id} to chat ${chat_id}.`);
  },
});

async function readContent(
  typed: readonly string[],
  hasFile: boolean,
  context: CommandContext,
): Promise<string | undefined> {
  if (typed.length > 1 || (typed.length === 1 && typed[0] !== '-')) return typed.join(' ');
  if (typed.length === 0 && hasFile) return undefined;
  if (typed.length === 0 && context.stdin.isTTY) throw new UsageError('<text> is missing.');
  return readStdin(context);
}
