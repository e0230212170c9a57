import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { program } from '@parley/server/lib/program.ts';
import { defineCommand, type Read, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { jsonLine, lines, localSecond, oneLine, print, printJson } from '../output.ts';
import { printRecord } from '../table.ts';
import { json, text } from '../values.ts';

const requestId: Read<string> = (typed) => {
  if (/^[0-9a-f]{12}-[0-9a-z]+$/.test(typed)) return typed;
  throw new Error('the request_id of a response, such as 3f2a90c1d4e5-1z');
};

export const command = defineCommand({
  arguments: {
    request_id: { summary: 'The request_id of an error, or the header X-Request-Id of any response.', read: requestId },
    file: {
      summary: "The server's log. Without it, or with -, it is read from standard input.",
      read: text,
      optional: true,
    },
  },
  options: { json },
  notes: `The server writes one line for each request to its standard output, and keeps none, so the command reads the log where
you keep it:

  journalctl -u parley -o cat | ${program} logs 3f2a90c1d4e5-1z
  docker logs parley | ${program} logs 3f2a90c1d4e5-1z`,
  async run({ request_id, file = '-' }, { json }, context) {
    const line = await findLine(request_id, file, context);
    if (line === undefined) {
      throw new Error(
        `The log has no request ${request_id}. The server logs every request only with LOG_LEVEL info or debug.`,
      );
    }
    const entry = entryIn(line);
    if (!entry) return json ? printJson(context, { line }) : print(context, oneLine(line));
    if (json) return printJson(context, entry);
    await printRecord(context, rows(entry, context));
  },
});

/** Returns the line of a request, without what a log collector writes before it. */
async function findLine(id: string, file: string, { cwd, stdin }: CommandContext): Promise<string | undefined> {
  if (file === '-' && stdin.isTTY) throw new UsageError("Give the file of the server's log, or pipe the log in.");
  const input = file === '-' ? stdin : createReadStream(resolve(cwd, file));
  const marks = new RegExp(`"request_id":"${id}"|\\brequest_id=${id}(?: |$)`);
  // Without this, readline would not report that the file cannot be read.
  const failed = Promise.withResolvers<never>();
  input.on('error', (error: NodeJS.ErrnoException) => {
    failed.reject(error.code === 'ENOENT' ? new Error(`There is no file ${oneLine(file)}.`) : error);
  });
  const search = async () => {
    for await (const line of createInterface({ input })) if (marks.test(line)) return line;
    return undefined;
  };
  try {
    return await Promise.race([search(), failed.promise]);
  } finally {
    input.destroy();
  }
}

type Entry = Readonly<Record<string, unknown>>;

/** Returns the JSON in a line, or undefined if the log is text. */
function entryIn(line: string): Entry | undefined {
  try {
    return JSON.parse(line.slice(line.indexOf('{'))) as Entry;
  } catch {
    return undefined;
  }
}

function rows(entry: Entry, { env }: CommandContext): string[][] {
  const { time, cause, ...fields } = entry;
  const { stack, ...error } = (typeof cause === 'object' && cause !== null ? cause : { message: cause }) as Entry;
  const when = typeof time === 'string' ? [['time', localSecond(time, env)]] : [];
  const plain = Object.entries({ ...fields, cause: error.message }).filter(([, value]) => value !== undefined);
  const trace = typeof stack === 'string' ? lines(stack).map((line, i) => [i === 0 ? 'stack' : '', line]) : [];
  return [
    ...when,
    ...plain.map(([name, value]) => [oneLine(name), typeof value === 'string' ? oneLine(value) : jsonLine(value)]),
    ...trace,
  ];
}
