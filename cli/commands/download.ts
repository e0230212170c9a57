import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FileInfo } from '@parley/contract';
import type { Client } from '@parley/sdk';
import { bytesText } from '../bytes.ts';
import { defineCommand } from '../command.ts';
import { connect } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { fetchRest, type Wanted } from '../download/fetch.ts';
import { isInTheWay, isThere, PartFile } from '../download/part-file.ts';
import { safeName } from '../download/safe-name.ts';
import type { Sink } from '../download/sink.ts';
import { ReaderGone, StandardOutput } from '../download/stdout.ts';
import { print, printJson } from '../output.ts';
import { oneLine } from '../terminal.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { UsageError } from '../usage.ts';
import { connection, json, positive, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: {
    file_id: { summary: 'The file.', read: positive },
    path: {
      summary:
        'Where to save it: a file, a folder, or - for standard output; by its own name here where it is not given.',
      read: text,
      optional: true,
    },
  },
  options: {
    force: { summary: 'Replace what is there.' },
    quiet,
    json,
    ...connection,
  },
  notes: `It is named <path>.part until all of it is there, and its SHA-256 is right. One that is stopped or breaks off is
gone on with by the next run. While the server is away it is waited for, up to a quarter of an hour.`,
  async run({ file_id, path: typed }, { force, json, quiet, ...where }, context) {
    if (json && typed === '-') throw new UsageError('Give --json or -, not both.');
    const client = connect(where, context);
    const { file } = await client.files.get({ file_id });
    const place = typed === '-' ? typed : await placeFor(typed, file, context);
    await transfer(context, { verb: 'Downloading', json, quiet }, (running) =>
      place === '-' ? show(client, file, running, context) : save(client, file, { place, force, context }, running),
    );
    if (json) return printJson(context, { file, path: place });
    if (place !== '-') await print(context, `Saved ${oneLine(place)}, ${bytesText(file.size)}.`);
  },
});

async function save(
  client: Client,
  file: Wanted,
  { place, force, context }: { place: string; force: boolean; context: CommandContext },
  running: Transfer,
): Promise<void> {
  if (!force && (await isThere(resolve(context.cwd, place)))) throw isInTheWay(place);
  await using part = await PartFile.open(place, file.sha256, force, context);
  running.isKept = true;
  await fetchRest(client, file, part, running);
  if (isRight(part, file)) return part.finish(force);
  await part.drop();
  throw new Error(`${isWrong} Nothing of it was kept.`);
}

async function show(client: Client, file: Wanted, running: Transfer, { stdout }: CommandContext): Promise<void> {
  const output = new StandardOutput(stdout);
  try {
    await fetchRest(client, file, output, running);
  } catch (error) {
    if (error instanceof ReaderGone) return;
    throw error;
  }
  if (!isRight(output, file)) throw new Error(isWrong);
}

const isWrong = 'What came is not the file: its SHA-256 is another one.';

const isRight = (sink: Sink, { size, sha256 }: Wanted) => sink.size === size && sink.sha256() === sha256;

async function placeFor(
  typed: string | undefined,
  file: Pick<FileInfo, 'name'> & Wanted,
  { cwd }: CommandContext,
): Promise<string> {
  const name = safeName(file.name, `file-${file.file_id}`);
  if (typed === undefined) return name;
  const isFolder = await stat(resolve(cwd, typed)).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? join(typed, name) : typed;
}
