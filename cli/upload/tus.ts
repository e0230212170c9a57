import { ApiError, TransportError } from '@parley/sdk';
import { getToken } from '@parley/sdk/token.ts';
import { type HttpResponse, Upload } from 'tus-js-client';
import type { Connection } from '../connection.ts';
import type { LocalFile } from './local-file.ts';
import { refusalOf } from './refusal.ts';
import type { UploadSession } from './session.ts';
import { pieceBytes, pieceSource } from './source.ts';

export interface Sending {
  readonly connection: Pick<Connection, 'server' | 'access'>;
  readonly file: LocalFile;
  readonly name: string;
  readonly session: UploadSession;
  readonly signal: AbortSignal;
  /** Called with the bytes from the start that are sent, also before they arrive. */
  readonly sent: (bytes: number) => void;
  /** Called with the bytes from the start that the server has. */
  readonly arrived: (bytes: number) => void;
}

interface Tokens {
  last?: string;
  refused?: string;
}

/** Sends the missing part of a file, and once more if the server refuses the token and there is another. Returns its id. */
export async function sendRest(sending: Sending): Promise<number> {
  const tokens: Tokens = {};
  try {
    return await attempt(sending, tokens);
  } catch (error) {
    const hasOther = typeof sending.connection.access.token !== 'string' && tokens.last !== undefined;
    if (!(error instanceof ApiError && error.status === 401 && hasOther)) throw error;
    return attempt(sending, { refused: tokens.last as string });
  }
}

async function attempt(sending: Sending, tokens: Tokens): Promise<number> {
  const { connection, file, name, session, signal, sent, arrived } = sending;
  signal.throwIfAborted();
  const endpoint = `${connection.server}/api/uploads`;
  const outcome = Promise.withResolvers<number>();
  let hasBegun = false;
  /** Local failures are reported unchanged. */
  const fail = (error: unknown) => {
    outcome.reject(error);
    void client.abort();
  };
  const client = new Upload(Bun.file(file.path), {
    // With both, the client would start over after any failed HEAD: a 503 would cost all uploaded bytes.
    ...(session.id === undefined ? { endpoint } : { uploadUrl: `${endpoint}/${session.id}` }),
    metadata: { filename: name },
    chunkSize: pieceBytes,
    retryDelays: null,
    storeFingerprintForResuming: false,
    fileReader: { openFile: async () => pieceSource(file, fail) },
    onBeforeRequest: async (request) => {
      try {
        tokens.last = await getToken(connection.access.token, signal, tokens.refused);
        request.setHeader('Authorization', `Bearer ${tokens.last}`);
        signal.throwIfAborted();
      } catch (error) {
        fail(error);
        throw error;
      }
    },
    onUploadUrlAvailable: () => {
      if (session.id === undefined) session.begin(client.url?.split('/').at(-1) ?? '');
      // The server may return another host. The token goes only to the configured one.
      client.url = `${endpoint}/${session.id}`;
    },
    onProgress: (bytes) => {
      // The first call comes before any byte is sent, with the server's offset.
      if (!hasBegun) arrived(bytes);
      hasBegun = true;
      sent(bytes);
    },
    onChunkComplete: (_, bytes) => arrived(bytes),
    onSuccess: ({ lastResponse }) => {
      const id = fileIdIn(lastResponse);
      if (id === undefined) fail(new TransportError('The response is not from Parley: it has no file id.'));
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

function fileIdIn(response: HttpResponse): number | undefined {
  const id = Number(response.getHeader('Parley-File-Id'));
  return id > 0 && Number.isSafeInteger(id) ? id : undefined;
}
