import { ApiError, TransportError } from '@parley/sdk';
import { type HttpResponse, Upload } from 'tus-js-client';
import type { Connection } from '../connection.ts';
import { Bearer } from './bearer.ts';
import type { KeptUpload } from './kept-upload.ts';
import type { LocalFile } from './local-file.ts';
import { refusalOf } from './refusal.ts';
import { PieceSource, pieceBytes } from './source.ts';

export interface Sending {
  readonly connection: Pick<Connection, 'server' | 'token'>;
  readonly file: LocalFile;
  readonly name: string;
  readonly upload: KeptUpload;
  readonly signal: AbortSignal;
  /** So many bytes from the beginning on are under way, or there. */
  readonly sent: (bytes: number) => void;
  /** So many are there, as the server says. */
  readonly arrived: (bytes: number) => void;
}

/** Sends what is missing of a file, once, or twice where the token is another by then. Answers the id that the file has. */
export async function sendRest(sending: Sending): Promise<number> {
  const bearer = new Bearer(sending.connection.token);
  try {
    return await attempt(sending, bearer);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401 && bearer.refuse())) throw error;
    return attempt(sending, bearer);
  }
}

async function attempt(sending: Sending, bearer: Bearer): Promise<number> {
  const { connection, file, name, upload, signal, sent, arrived } = sending;
  signal.throwIfAborted();
  const endpoint = `${connection.server}/api/uploads`;
  const outcome = Promise.withResolvers<number>();
  let hasBegun = false;
  /** What goes wrong here and not on the way is told as it is. */
  const fail = (error: unknown) => {
    outcome.reject(error);
    void client.abort();
  };
  const client = new Upload(Bun.file(file.path), {
    // With both, the client would begin anew whatever goes wrong when it asks for the upload: a 503 would cost all that is
    // there.
    ...(upload.id === undefined ? { endpoint } : { uploadUrl: `${endpoint}/${upload.id}` }),
    metadata: { filename: name },
    chunkSize: pieceBytes,
    retryDelays: null,
    storeFingerprintForResuming: false,
    fileReader: { openFile: async () => new PieceSource(file, fail) },
    onBeforeRequest: async (request) => {
      try {
        request.setHeader('Authorization', await bearer.header());
        signal.throwIfAborted();
      } catch (error) {
        fail(error);
        throw error;
      }
    },
    onUploadUrlAvailable: () => {
      if (upload.id === undefined) upload.begin(idIn(client.url));
      // Whatever address the server was reached by, or believes to have: the token goes where it was meant to go.
      client.url = `${endpoint}/${upload.id}`;
    },
    onProgress: (bytes) => {
      // The first is told before anything is sent: it is where the server says that the upload stands.
      if (!hasBegun) arrived(bytes);
      hasBegun = true;
      sent(bytes);
    },
    onChunkComplete: (_, bytes) => arrived(bytes),
    onSuccess: ({ lastResponse }) => {
      const id = fileIdIn(lastResponse);
      if (id === undefined) fail(new TransportError("The answer is not Parley's: it names no file."));
      else outcome.resolve(id);
    },
    onError: (error) => outcome.reject(refusalOf(error, connection.server)),
  });
  const stop = () => fail(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  client.start();
  try {
    return await outcome.promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const idIn = (address: string | null): string => address?.split('/').at(-1) ?? '';

function fileIdIn(answer: HttpResponse): number | undefined {
  const id = Number(answer.getHeader('Parley-File-Id'));
  return id > 0 && Number.isSafeInteger(id) ? id : undefined;
}
