import { type ErrorCode, type FileId, ParleyError, type UserId } from '@parley/contract';
import { ERRORS, Server } from '@tus/server';
import type { UploadLocks } from '../files/locks.ts';
import { type TusCaller, TusStore } from '../files/tus-store.ts';
import type { Uploads } from '../files/uploads.ts';
import { asUnreadable } from './bytes.ts';

export interface TusRequest {
  /** With the headers of the protocol alone. */
  readonly request: Request;
  /** Of the upload that it is about; undefined: it is to make one. */
  readonly key: string | undefined;
  readonly userId: UserId;
  readonly uploads: Uploads;
  readonly locks: UploadLocks;
  readonly caller: TusCaller;
  readonly hasHungUp: () => boolean;
}

export interface TusAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Given once the upload is a file. */
  readonly fileId: FileId | undefined;
  readonly expiresAt: number;
}

/** What a request that has to let go of an upload gets to come to an end by itself. */
const drainMs = 100;

/**
 * Has the library serve a request. In a file of its own, which is loaded with the first upload: the library takes 80 ms and
 * 17 MB. A server and a store for each request cost little, and know whose it is.
 */
export async function exchange(asked: TusRequest): Promise<TusAnswer> {
  const over = Promise.withResolvers<void>();
  asked.uploads.waitFor(over.promise);
  return serve(asked).finally(() => over.resolve());
}

async function serve(asked: TusRequest): Promise<TusAnswer> {
  const { request, key, userId, uploads, locks, caller } = asked;
  const store = new TusStore(uploads, userId, caller);
  let thrown: unknown;
  const server = new Server({
    path: '/api/uploads',
    // So that it does not matter behind which proxy we are.
    relativeLocation: true,
    datastore: store,
    locker: key === undefined ? locks : locks.leasing((lease) => store.hold(lease)),
    lockDrainTimeout: drainMs,
    getFileIdFromRequest: () => key,
    // Before the lock: nobody else takes it from the owner.
    ...(key !== undefined && { onIncomingRequest: async () => void (await store.access(key)) }),
    onResponseError: (_request, error) => {
      thrown = error;
      return undefined;
    },
  });
  const { status, headers, body } = await server.handleWeb(request);
  if (status < 400) return { status, headers, fileId: store.fileId, expiresAt: store.expiresAt };
  if (key === undefined) await store.abandon();
  throw asRefusal(thrown ?? { status_code: status, body: await new Response(body).text() }, asked);
}

/** The library's refusals, by their status; without words of ours, in its own. */
const refusals: Readonly<Record<number, readonly [code: ErrorCode, message?: string]>> = {
  400: ['invalid_request'],
  403: ['invalid_request'],
  409: ['conflict', 'The upload is not at this Upload-Offset. Ask with HEAD where it is, and go on from there.'],
  413: ['payload_too_large', 'These are more bytes than Upload-Length has announced.'],
  501: ['invalid_request'],
};

function asRefusal(thrown: unknown, { hasHungUp }: TusRequest): unknown {
  if (thrown instanceof ParleyError) return thrown;
  if (thrown === ERRORS.ABORTED) return hasHungUp() ? asUnreadable(thrown) : takenOver();
  const { status_code = 0, body = '' } = thrown as Partial<typeof ERRORS.ABORTED>;
  const [code, message = `${body.trim().replace(/[.\s]+$/, '')}.`] = refusals[status_code] ?? [];
  return code ? new ParleyError(code, message) : thrown;
}

const takenOver = () =>
  new ParleyError(
    'conflict',
    'Another request has taken over. Ask with HEAD where the upload is, and go on from there.',
  );
