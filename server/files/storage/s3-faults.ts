import { ParleyError } from '@parley/contract';
import { StorageError } from './blobs.ts';
import type { S3Settings } from './s3-url.ts';

const refusesKeys = 'refuses the access key or its secret';
const refusesToken = 'refuses the session token that it is sent because AWS_SESSION_TOKEN or S3_SESSION_TOKEN is set';

/** Permanent errors, in words for the operator. */
const meanings: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: refusesKeys,
  SignatureDoesNotMatch: refusesKeys,
  AccessDenied: 'does not let this access key list the bucket',
  AuthorizationHeaderMalformed: 'expects another region',
  PermanentRedirect: 'keeps this bucket in another region',
  InvalidToken: refusesToken,
  ExpiredToken: refusesToken,
  RequestTimeTooSkewed: 'has a clock that differs too much from this one',
  NoSuchBucket: 'has no such bucket',
  InvalidBucketName: 'takes no bucket of that name',
  InvalidResponse: 'does not respond like an S3 server',
  Timeout: 'does not respond',
};

const permanent: ReadonlySet<string> = new Set([...Object.keys(meanings), 'NoSuchKey', 'InvalidRange']);

/** Delays before the second and third attempt. Bun itself makes only one. */
const waitsMs = [100, 500];

/** Retries transient errors. All our requests can be repeated. */
export async function withRetries<T>(send: () => Promise<T>): Promise<T> {
  for (const wait of waitsMs) {
    try {
      return await send();
    } catch (error) {
      if (permanent.has(codeOf(error))) throw asUnavailable(error);
      await Bun.sleep(wait);
    }
  }
  return send().catch((error) => {
    throw asUnavailable(error);
  });
}

export function asUnavailable(cause: unknown): ParleyError {
  return new ParleyError('unavailable', 'The file storage is unavailable. Try again later.', [], cause);
}

/** Returns a message for the operator. It quotes only the code of the server's error. */
export function asStorageError(error: unknown, { endpoint, bucket }: S3Settings): StorageError {
  const code = codeOf(error instanceof ParleyError ? error.cause : error);
  const meaning = meanings[code] ?? `cannot be reached (${code})`;
  return new StorageError(`The file storage ${bucket} at ${endpoint} ${meaning}. Check S3_URL.`);
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w+$/.test(code) ? code : 'unknown';
}
