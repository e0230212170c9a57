import type { FileInfo } from '@parley/contract';
import { type Client, TransportError } from '@parley/sdk';
import { bytesText } from '../bytes.ts';
import { Patience } from '../patience.ts';
import type { Transfer } from '../transfer.ts';
import type { Sink } from './sink.ts';

const limits = { silenceMs: 60_000, absenceMs: 15 * 60_000 };

export type Wanted = Pick<FileInfo, 'size' | 'sha256'> & { readonly file_id: number };

/** Fetches what a sink has not got of a file yet. */
export async function fetchRest(client: Client, file: Wanted, sink: Sink, transfer: Transfer): Promise<void> {
  const patience = new Patience(transfer, limits);
  if (sink.size > 0) await transfer.say(`Going on after ${bytesText(sink.size)} of ${bytesText(file.size)}.`);
  await patience.call(async (signal, signs) => {
    if (sink.size >= file.size) return;
    const response = await ask(client, file, sink, signal);
    for await (const bytes of bytesOf(response, signal)) {
      await sink.append(bytes);
      signs.further();
      transfer.show(sink.size, file.size);
    }
    if (sink.size < file.size) throw new TransportError('The connection broke off.');
  });
}

async function ask(client: Client, { file_id }: Wanted, sink: Sink, signal: AbortSignal): Promise<Response> {
  const headers = {
    // The bytes that are counted must be those of the file.
    'accept-encoding': 'identity',
    ...(sink.size > 0 && { range: `bytes=${sink.size}-` }),
    ...(sink.size > 0 && sink.etag !== undefined && { 'if-range': sink.etag }),
  };
  const response = await client.files.download({ file_id }, { headers, signal });
  const isRest = response.status === 206 && startOf(response) === sink.size;
  if (!isRest && response.status !== 200) {
    throw new TransportError(`The server answers HTTP ${response.status} and not with the file.`);
  }
  if (!isRest && sink.size > 0) await sink.restart();
  await sink.begin(response.headers.get('etag') ?? undefined);
  return response;
}

const startOf = ({ headers }: Response): number =>
  Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? Number.NaN);

/** The bytes as they come. What breaks on the way is told apart from what fails here. */
async function* bytesOf(response: Response, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  for (;;) {
    const next = await reader?.read().catch((cause: Error) => {
      signal.throwIfAborted();
      throw new TransportError(`The connection broke off: ${cause.message}`, { cause });
    });
    if (!next || next.done) return;
    yield next.value;
  }
}
