import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FileInfo } from '@parley/contract';
import { type Client, TransportError } from '@parley-chat/sdk';
import { bytesText } from '../bytes.ts';
import { defineCommand, UsageError } from '../command.ts';
import { openConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { safeName } from '../download/safe-name.ts';
import { alreadyExists, exists, openPartFile, ReaderGone, type Sink, standardOutput } from '../download/sink.ts';
import { oneLine, print, printJson } from '../output.ts';
import { Retrier } from '../retrier.ts';
import { type Transfer, transfer } from '../transfer.ts';
import { connection, json, positive, quiet, text } from '../values.ts';

export const command = defineCommand({
  arguments: {
    file_id: { summary: 'The file.', read: positive },
    path: {
      summary: 'A file, a folder, or - for standard output. Defaults to the name of the file, in this folder.',
      read: text,
      optional: true,
    },
  },
  options: { force: { summary: 'Replace an existing file.' }, quiet, json, ...connection },
  notes: `The file is named <path>.part until it is complete and its SHA-256 is verified. Interrupted downloads resume on the
next run. While the server is down, the command retries for up to 15 minutes.`,
  async run({ file_id, path: typed }, { force, json, quiet, ...where }, context) {
    if (json && typed === '-') throw new UsageError('Give --json or -, not both.');
    const { client } = openConnection(where, context);
    const { file } = await client.files.get({ file_id });
    const path = typed === '-' ? typed : await targetFor(typed, file, context);
    await transfer(context, { verb: 'Downloading', json, quiet }, (running) =>
      path === '-' ? show(client, file, running, context) : save(client, file, { path, force, context }, running),
    );
    if (json) return printJson(context, { file, path });
    if (path !== '-') await print(context, `Saved ${oneLine(path)}, ${bytesText(file.size)}.`);
  },
});

async function save(
  client: Client,
  file: RemoteFile,
  { path, force, context }: { path: string; force: boolean; context: CommandContext },
  running: Transfer,
): Promise<void> {
  if (!force && (await exists(resolve(context.cwd, path)))) throw alreadyExists(path);
  await using part = await openPartFile(path, file.sha256, force, context);
  running.isResumable = true;
  await fetchRest(client, file, part, running);
  // Awaited here, because the part is released on return.
  if (isComplete(part, file)) return await part.finish();
  await part.drop();
  throw new Error(`${wrongHash} The download was removed.`);
}

async function show(client: Client, file: RemoteFile, running: Transfer, { stdout }: CommandContext): Promise<void> {
  const output = standardOutput(stdout);
  try {
    await fetchRest(client, file, output, running);
  } catch (error) {
    if (error instanceof ReaderGone) return;
    throw error;
  }
  if (!isComplete(output, file)) throw new Error(wrongHash);
}

const wrongHash = 'The downloaded bytes do not match the SHA-256 of the file.';

const isComplete = (sink: Sink, { size, sha256 }: RemoteFile) => sink.size === size && sink.sha256() === sha256;

async function targetFor(
  typed: string | undefined,
  file: Pick<FileInfo, 'name'> & RemoteFile,
  { cwd }: CommandContext,
): Promise<string> {
  const name = safeName(file.name, `file-${file.file_id}`);
  if (typed === undefined) return name;
  const found = await stat(resolve(cwd, typed)).catch(() => undefined);
  return found?.isDirectory() ? join(typed, name) : typed;
}

const limits = { silenceMs: 60_000, outageMs: 15 * 60_000 };

type RemoteFile = Pick<FileInfo, 'size' | 'sha256'> & { readonly file_id: number };

/** Downloads the missing bytes of a file. Retries while the server is down. */
async function fetchRest(client: Client, file: RemoteFile, sink: Sink, transfer: Transfer): Promise<void> {
  if (sink.size > 0) await transfer.say(`Resuming at ${bytesText(sink.size)} of ${bytesText(file.size)}.`);
  await new Retrier(transfer, limits).call(async (signal, progress) => {
    if (sink.size >= file.size) return;
    const response = await request(client, file, sink, signal);
    for await (const bytes of bytesOf(response, signal)) {
      await sink.append(bytes);
      progress.advanced();
      transfer.show(sink.size, file.size);
    }
    if (sink.size < file.size) throw new TransportError('The connection broke.');
  });
}

async function request(client: Client, { file_id }: RemoteFile, sink: Sink, signal: AbortSignal): Promise<Response> {
  const headers = {
    // Compressed bytes would not match the size.
    'accept-encoding': 'identity',
    ...(sink.size > 0 && { range: `bytes=${sink.size}-` }),
    ...(sink.size > 0 && sink.etag !== undefined && { 'if-range': sink.etag }),
  };
  const response = await client.files.download({ file_id }, { headers, signal });
  const isRest = response.status === 206 && startOf(response) === sink.size;
  if (!isRest && response.status !== 200) {
    throw new TransportError(`The server responded with HTTP ${response.status} and not with the file.`);
  }
  if (!isRest && sink.size > 0) await sink.restart();
  await sink.begin(response.headers.get('etag') ?? undefined);
  return response;
}

const startOf = ({ headers }: Response): number =>
  Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? Number.NaN);

/** Yields the body. A network failure is a `TransportError`, so that it differs from a failure of the sink. */
async function* bytesOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  for (;;) {
    const next = await reader?.read().catch((cause: Error) => {
      signal.throwIfAborted();
      throw new TransportError(`The connection broke: ${cause.message}`, { cause });
    });
    if (!next || next.done) return;
    yield next.value;
  }
}
