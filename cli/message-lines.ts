import type { FileInfo } from '@parley/contract';
import type { ClientOutput } from '@parley-chat/sdk';
import { bytesText } from './bytes.ts';
import type { Environment } from './context.ts';
import type { Lookup } from './lookups.ts';
import { columns, lines, localTime, oneLine } from './output.ts';

type Message = ClientOutput<'messages.get_messages'>['messages'][number];

/** Returns messages as a table: id, time, author and text. */
export async function messageLines(messages: readonly Message[], names: Lookup, env: Environment): Promise<string[]> {
  const rows = await Promise.all(
    messages.map(async (message) => {
      const [first = '', ...more] = [...textOf(message), ...marksOf(message)];
      const start = [String(message.message_id), localTime(message.created_at, env), await names.of(message.user_id)];
      return [[...start.map(oneLine), first], ...more.map((line) => ['', '', '', line])];
    }),
  );
  return columns(rows.flat());
}

/** Returns a line about a file of a message, with the id to download it by. */
export const fileLine = ({ file_id, name, size }: Pick<FileInfo, 'name' | 'size'> & { file_id: number }): string =>
  `[file ${file_id}: ${oneLine(name)}, ${bytesText(size)}]`;

function textOf({ content, file, files = file ? [file] : [], deleted_at }: Message): string[] {
  if (deleted_at !== null) return ['(deleted)'];
  return files.length === 0 ? lines(content) : [...(content === '' ? [] : lines(content)), ...files.map(fileLine)];
}

function marksOf({ reply_to, edited_at, reactions }: Message): string[] {
  const marks = [
    ...(reply_to === null ? [] : [`reply to ${reply_to}`]),
    ...(edited_at === null ? [] : ['edited']),
    ...reactions.map(({ emoji, count }) => `${oneLine(emoji)} ${count}`),
  ];
  return marks.length === 0 ? [] : [`[${marks.join(', ')}]`];
}
