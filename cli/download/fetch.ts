import type { FileInfo } from '@parley/contract';
import { type Client, TransportError } from '@parley/sdk';
import { bytesText } from '../bytes.ts';
import { Retrier } from '../retrier.ts';
import type { Transfer } from '../transfer.ts';
import type { Sink } from './sink.ts';

const limits = { silenceMs: 60_000, outageMs: 15 * 60_000 };

export type RemoteFile = Pick<FileInfo, 'size' | 'sha256'> & { readonly file_id: number };

/** Downloads the missing bytes of a file. Retries while the server is down. */
export async function fetchRest(client: Client, file: RemoteFile, sink: Sink, transfer: Transfer): Promise<void> {
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
