import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { S3Client } from 'bun';
import { type Blobs, StorageError } from '../../../files/storage/blobs.ts';
import { checkS3, openS3 } from '../../../files/storage/s3.ts';
import { parseS3Url, type S3Settings } from '../../../files/storage/s3-url.ts';
import { eventually } from '../../support/eventually.ts';
import { Forwarder } from '../../support/forwarder.ts';
import { freePort } from '../../support/postgres.ts';
import { sharedS3 } from '../../support/s3.ts';
import { onS3 } from '../../support/storages.ts';

const MiB = 1024 * 1024;
const objectBytes = 4 * MiB;
const key = 'the-key-of-one-blob';
const nameOf = (index: number) => `${key}/00000${index}`;

const freshSettings = async () => parseS3Url(await (await sharedS3()).freshBucket());

/** A client of the same bucket, without Parley. */
const bucketOf = ({ isVirtualHosted, ...settings }: S3Settings) =>
  new S3Client({ ...settings, virtualHostedStyle: isVirtualHosted });

async function behindForwarder(): Promise<{ settings: S3Settings; forwarder: Forwarder }> {
  const settings = await freshSettings();
  const forwarder = await Forwarder.before(Number(new URL(settings.endpoint).port));
  return { settings: { ...settings, endpoint: `http://127.0.0.1:${forwarder.port}` }, forwarder };
}

async function write(blobs: Blobs, at: number, bytes: Uint8Array): Promise<number> {
  const writer = await blobs.append(key, at);
  await writer.write(bytes);
  return writer.close();
}

const read = async (blobs: Blobs, start: number, end: number) =>
  new Response(await blobs.read(key, start, end)).bytes();
const isSame = (found: Uint8Array, expected: Uint8Array) => Buffer.compare(found, expected) === 0;
const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

onS3('objects of a bucket', () => {
  test('are under the prefix, each of 4 MiB but the last', async () => {
    const settings = { ...(await freshSettings()), prefix: 'parley/files/' };
    const blobs = openS3(settings);
    await write(blobs, 0, randomBytes(2 * objectBytes + 5));
    const listed = await bucketOf(settings).list();
    expect(listed.contents?.map(({ key: name, size }) => [name, size])).toEqual([
      [`parley/files/${nameOf(0)}`, objectBytes],
      [`parley/files/${nameOf(1)}`, objectBytes],
      [`parley/files/${nameOf(2)}`, 5],
    ]);
  });

  test('are never empty', async () => {
    const settings = await freshSettings();
    await write(openS3(settings), 0, randomBytes(objectBytes));
    await write(openS3(settings), objectBytes, new Uint8Array());
    const listed = await bucketOf(settings).list();
    expect(listed.contents?.map(({ size }) => size)).toEqual([objectBytes]);
  });

  test('after a gap do not count, and are removed when writing continues', async () => {
    const settings = await freshSettings();
    const [blobs, bucket] = [openS3(settings), bucketOf(settings)];
    const bytes = randomBytes(4 * objectBytes);
    await write(blobs, 0, bytes);
    await bucket.delete(nameOf(1));
    expect(await blobs.sizeOf(key)).toBe(objectBytes);
    await expect(blobs.seal(key, 4 * objectBytes)).rejects.toThrow('cannot be sealed');
    const rest = randomBytes(objectBytes);
    expect(await write(blobs, objectBytes, rest)).toBe(2 * objectBytes);
    expect(await blobs.sizeOf(key)).toBe(2 * objectBytes);
    expect(isSame(await read(blobs, 0, 2 * objectBytes), Buffer.concat([bytes.subarray(0, objectBytes), rest]))).toBe(
      true,
    );
  });

  test('after a short one do not count', async () => {
    const settings = await freshSettings();
    const blobs = openS3(settings);
    await write(blobs, 0, randomBytes(3 * objectBytes));
    await bucketOf(settings).write(nameOf(1), new Uint8Array(100));
    expect(await blobs.sizeOf(key)).toBe(objectBytes + 100);
  });

  test('that are missing or too short fail the reader', async () => {
    const settings = await freshSettings();
    const [blobs, bucket] = [openS3(settings), bucketOf(settings)];
    const bytes = randomBytes(2 * objectBytes + 100);
    await blobs.seal(key, await write(blobs, 0, bytes));
    await bucket.write(nameOf(2), new Uint8Array(99));
    expect(await failureOf(read(blobs, 0, bytes.length))).toMatchObject({ code: 'unavailable' });
    await bucket.delete(nameOf(1));
    expect(await failureOf(read(blobs, 0, bytes.length))).toMatchObject({
      code: 'unavailable',
      cause: { code: 'NoSuchKey' },
    });
    expect(isSame(await read(blobs, 0, objectBytes), bytes.subarray(0, objectBytes))).toBe(true);
  });

  test('are not downloaded faster than they are read', async () => {
    const { settings, forwarder } = await behindForwarder();
    const blobs = openS3(settings);
    await write(blobs, 0, randomBytes(3 * objectBytes));
    const before = forwarder.answered;
    const stream = (await blobs.read(key, 0, 3 * objectBytes)) as ReadableStream<Uint8Array>;
    const reader = stream.getReader();
    await reader.read();
    // Meanwhile another reader gets one object.
    await read(blobs, 0, objectBytes);
    expect(forwarder.answered - before).toBeLessThan((2 + 1) * objectBytes);
    await reader.cancel();
    forwarder.stop();
  });
});

onS3('a server that does not always answer', () => {
  test.each([
    ['requests', (forwarder: Forwarder) => forwarder.cutRequests(2)],
    ['answers', (forwarder: Forwarder) => forwarder.cutAnswers(2)],
    ['the ends of answers', (forwarder: Forwarder) => forwarder.cutAnswers(2, 500_000)],
  ])('is retried if %s do not arrive', async (_, cut) => {
    const { settings, forwarder } = await behindForwarder();
    const blobs = openS3(settings);
    const bytes = randomBytes(objectBytes + 1_000);
    cut(forwarder);
    const writer = await blobs.append(key, 0);
    cut(forwarder);
    await writer.write(bytes);
    expect(await writer.close()).toBe(bytes.length);
    cut(forwarder);
    await blobs.seal(key, bytes.length);
    cut(forwarder);
    expect(isSame(await read(blobs, 0, bytes.length), bytes)).toBe(true);
    cut(forwarder);
    await blobs.remove(key);
    expect(await blobs.sizeOf(key)).toBe(0);
    forwarder.stop();
  });

  test('makes writing fail, and the stored bytes can be continued', async () => {
    const { settings, forwarder } = await behindForwarder();
    const blobs = openS3(settings);
    const bytes = randomBytes(5 * objectBytes);
    const writer = await blobs.append(key, 0);
    await writer.write(bytes.subarray(0, 1.5 * objectBytes));
    await eventually('the first object is stored', async () => (await blobs.sizeOf(key)) || undefined);
    forwarder.cutRequests(Number.POSITIVE_INFINITY);
    const failure = await failureOf(writer.write(bytes.subarray(1.5 * objectBytes)));
    expect(failure).toMatchObject({ code: 'unavailable', cause: { name: 'S3Error' } });
    expect((failure as Error).message).toBe('The file storage is unavailable. Try again later.');
    forwarder.cutRequests(0);
    const kept = await writer.close();
    expect(kept).toBe(await blobs.sizeOf(key));
    // One of the two objects in transit may still have arrived, but no object is sent after a failure.
    expect([objectBytes, 2 * objectBytes]).toContain(kept);
    const listed = (await bucketOf(settings).list()).contents ?? [];
    expect(listed.filter(({ key: name }) => name > nameOf(2))).toEqual([]);
    await write(blobs, kept, bytes.subarray(kept));
    await blobs.seal(key, bytes.length);
    expect(isSame(await read(blobs, 0, bytes.length), bytes)).toBe(true);
    forwarder.stop();
  });

  test('makes the end of writing fail', async () => {
    const { settings, forwarder } = await behindForwarder();
    const writer = await openS3(settings).append(key, 0);
    await writer.write(new Uint8Array(10));
    forwarder.stop();
    expect(await failureOf(writer.close())).toMatchObject({ code: 'unavailable' });
  });

  test('makes everything else unavailable too', async () => {
    const blobs = openS3({ ...(await freshSettings()), endpoint: `http://127.0.0.1:${await freePort()}` });
    const attempts = [
      blobs.append(key, 0),
      blobs.sizeOf(key),
      blobs.seal(key, 1),
      blobs.remove(key),
      read(blobs, 0, 1),
    ];
    for (const failure of await Promise.all(attempts.map(failureOf))) {
      expect(failure).toMatchObject({ code: 'unavailable', cause: { code: 'ConnectionRefused' } });
    }
  });
});

onS3('the check at the start', () => {
  const refusalOf = async (change: Partial<S3Settings>) => {
    const settings = { ...(await freshSettings()), ...change };
    const failure = await failureOf(checkS3(settings));
    expect(failure).toBeInstanceOf(StorageError);
    const { message } = failure as Error;
    expect(message).not.toContain(settings.secretAccessKey);
    expect(message).not.toContain(settings.accessKeyId);
    return message.replace(settings.endpoint, 'THE SERVER');
  };

  test('passes for a usable bucket', async () => {
    await checkS3(await freshSettings());
  });

  test('tells the operator what to fix', async () => {
    const refuses = 'refuses the access key or its secret. Check S3_URL.';
    expect(await refusalOf({ secretAccessKey: 'wrong' })).toEndWith(`at THE SERVER ${refuses}`);
    expect(await refusalOf({ accessKeyId: 'nobody' })).toEndWith(`at THE SERVER ${refuses}`);
    expect(await refusalOf({ region: 'elsewhere-1' })).toEndWith('expects another region. Check S3_URL.');
    expect(await refusalOf({ bucket: 'missing' })).toBe(
      'The file storage missing at THE SERVER has no such bucket. Check S3_URL.',
    );
    expect(await refusalOf({ endpoint: `http://127.0.0.1:${await freePort()}` })).toEndWith(
      'at THE SERVER cannot be reached (ConnectionRefused). Check S3_URL.',
    );
  });

  test('has a timeout', async () => {
    const silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data: () => {} } });
    const settings = { ...(await freshSettings()), endpoint: `http://127.0.0.1:${silent.port}` };
    await expect(checkS3(settings, 200)).rejects.toThrow('does not respond. Check S3_URL.');
    silent.stop(true);
  });

  test('fails if something other than S3 responds', async () => {
    const page = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<h1>Welcome</h1>') });
    expect(await refusalOf({ endpoint: page.url.origin })).toContain('does not respond like an S3 server');
    await page.stop(true);
  });
});

describe('S3_URL', () => {
  test('is parsed with and without its optional parts', () => {
    expect(parseS3Url('https://KEY:SECRET@s3.example.com/bucket')).toEqual({
      endpoint: 'https://s3.example.com',
      bucket: 'bucket',
      prefix: '',
      region: 'us-east-1',
      accessKeyId: 'KEY',
      secretAccessKey: 'SECRET',
      isVirtualHosted: false,
    });
    expect(
      parseS3Url('http://a%3Ab:s%2Fe%2Bc%25@[::1]:9000/my.bucket/chat/files/?region=eu-central-1&style=virtual'),
    ).toEqual({
      endpoint: 'http://my.bucket.[::1]:9000',
      bucket: 'my.bucket',
      prefix: 'chat/files/',
      region: 'eu-central-1',
      accessKeyId: 'a:b',
      secretAccessKey: 's/e+c%',
      isVirtualHosted: true,
    });
  });

  test.each([
    ['no address', 'bucket', 'a URL such as'],
    ['another scheme', 's3://KEY:SECRET@host/bucket', 'a URL such as'],
    ['no keys', 'https://host/bucket', 'with both keys'],
    ['one key', 'https://KEY@host/bucket', 'with both keys'],
    ['a secret with a slash in it', 'https://KEY:12/SECRET@host/bucket', 'with both keys'],
    ['a secret with a stray percent sign', 'https://KEY:SECRET%@host/bucket', 'with both keys'],
    ['no bucket', 'https://KEY:SECRET@host/', 'with a bucket'],
    ['a strange bucket', 'https://KEY:SECRET@host/b%20c', 'with a bucket'],
    ['a strange prefix', 'https://KEY:SECRET@host/bucket/a//b', 'whose prefix'],
    ['an empty region', 'https://KEY:SECRET@host/bucket?region=', 'with a region'],
    ['another style', 'https://KEY:SECRET@host/bucket?style=path', 'with no parameters but'],
    ['an unknown parameter', 'https://KEY:SECRET@host/bucket?acl=public', 'with no parameters but'],
  ])('is refused with %s, and its secret is not shown', (_, value, complaint) => {
    const refusal = (() => {
      try {
        parseS3Url(value);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(refusal).toContain(complaint);
    expect(refusal.replace(/https:\/\/ACCESS_KEY:SECRET_KEY@/, '')).not.toContain('SECRET');
  });
});
