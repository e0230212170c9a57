import { ParleyError } from '@parley/contract';
import { StorageError } from './blobs.ts';
import type { S3Settings } from './s3-url.ts';

const refusesKeys = 'refuses the access key, or its secret is another';
const refusesToken = 'refuses the session token that it is sent because AWS_SESSION_TOKEN or S3_SESSION_TOKEN is set';

/** What an error code means to the operator, where trying again does not help. */
const meanings: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: refusesKeys,
  SignatureDoesNotMatch: refusesKeys,
  AccessDenied: 'does not let this access key list the bucket',
  AuthorizationHeaderMalformed: 'expects another region',
  PermanentRedirect: 'keeps this bucket in another region',
  InvalidToken: refusesToken,
  ExpiredToken: refusesToken,
  RequestTimeTooSkewed: 'has a clock that differs too much from the one here',
  NoSuchBucket: 'has no such bucket',
  InvalidBucketName: 'takes no bucket of that name',
  InvalidResponse: 'does not answer as an S3 server does',
  Timeout: 'does not answer',
};

const lasting: ReadonlySet<string> = new Set([...Object.keys(meanings), 'NoSuchKey', 'InvalidRange']);

/** Waits before the second and the third attempt. Bun makes only one attempt at each of the requests that we use. */
const waitsMs = [100, 500];

/** All that we ask of the server may be asked twice, so what passes by itself is tried again. */
export async function insisting<T>(ask: () => Promise<T>): Promise<T> {
  for (const wait of waitsMs) {
    try {
      return await ask();
    } catch (error) {
      if (lasting.has(codeOf(error))) throw asUnavailable(error);
      await Bun.sleep(wait);
    }
  }
  return ask().catch((error) => {
    throw asUnavailable(error);
  });
}

export function asUnavailable(cause: unknown): ParleyError {
  return new ParleyError('unavailable', 'The storage for files cannot be used right now. Try again later.', [], cause);
}

/** A plain line for the operator. Of what the server said it holds the code alone. */
export function asStorageError(error: unknown, { endpoint, bucket }: S3Settings): StorageError {
  const code = codeOf(error instanceof ParleyError ? error.cause : error);
  const meaning = meanings[code] ?? `cannot be reached (${code})`;
  return new StorageError(`The storage for files, ${bucket} at ${endpoint}, ${meaning}. Look at S3_URL.`);
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w+$/.test(code) ? code : 'unknown';
}
