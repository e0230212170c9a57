import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { listOperations } from '@parley/contract';
import { inputDecoder } from '@parley/server/http/input.ts';
import { program } from '@parley/server/lib/program.ts';
import { defineCommand, requireField, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { readStdin, textOf } from '../input.ts';
import { requireKnown } from '../known.ts';
import { indentedJson, print, printJson } from '../output.ts';
import { connection, json, text } from '../values.ts';

const names = () => listOperations().map(({ name }) => name);

/** Their responses are not JSON. */
const otherCommands: Readonly<Record<string, string>> = {
  'events.stream': `${program} listen`,
  'files.download': `${program} download`,
};

export const command = defineCommand({
  arguments: {
    operation: { summary: 'The operation, such as messages.get_messages.', read: text, complete: names },
    fields: {
      summary: 'Its fields, as name=value. For a list, repeat the field, or give a JSON array.',
      read: text,
      rest: true,
    },
  },
  options: {
    input: { value: 'path', summary: 'Read the fields from a JSON file, or with - from standard input.', read: text },
    json,
    ...connection,
  },
  notes: `It calls any operation of the API and prints the response, on a terminal with indentation. /docs of a server lists the
operations. Example: ${program} api chats.list limit=5 --field chats.name`,
  async run({ operation: typed, fields }, { input: path, json, ...where }, context) {
    const name = requireKnown('operation', typed, names());
    const other = otherCommands[name];
    if (other) throw new UsageError(`The response of ${name} is not JSON. Use: ${other}`);
    if (path !== undefined && fields.length > 0) throw new UsageError('Give fields or --input, not both.');
    const row = listOperations().find((one) => one.name === name);
    if (!row) throw new Error(`There is no operation ${name}.`);
    if (context.field !== undefined) await requireField(row.name, context.field);
    const input =
      path === undefined
        ? inputDecoder(row)({ kind: 'strings', fields: fields.map(fieldOf) })
        : parseInput(await readInput(path, context));
    const { client } = openConnection(where, context);
    const methods = client as unknown as Record<string, Record<string, (input: object) => Promise<object>>>;
    const response = await methods[row.resource]?.[row.action]?.(input);
    if (json || !context.stdout.isTTY) return printJson(context, response);
    await print(context, ...indentedJson(response));
  },
});

function fieldOf(typed: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(typed) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`A field is name=value, not ${JSON.stringify(typed)}.`);
  return [name, value];
}

const readInput = async (path: string, context: CommandContext): Promise<string> =>
  path === '-' ? readStdin(context) : textOf(await readFile(resolve(context.cwd, path)), path);

function parseInput(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UsageError('The input must be a JSON object.');
}
