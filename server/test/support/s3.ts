import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3Client } from 'bun';
import { startDaemon, temporaryFolder } from './cleanup.ts';
import { eventually } from './eventually.ts';
import { require } from './requirements.ts';

/** OpenStack Swift with its S3 API, on free ports, in a temporary folder. It ends with this process. */
export interface ObjectStore {
  /** Returns the `S3_URL` of a new, empty bucket. */
  freshBucket(): Promise<string>;
}

const parts = ['account', 'container', 'object', 'proxy'];

export const s3Missing = require(parts.every((part) =>
  existsSync(`/usr/bin/swift-${part}-server`),
), 'OpenStack Swift', parts.map((part) => `swift-${part}`).join(' '));

let started: Promise<ObjectStore> | undefined;

/** The one server that all suites of a test run share. */
export function sharedS3(): Promise<ObjectStore> {
  started ??= startS3();
  return started;
}

const [user, secret, region] = ['parley:tester', 's3cret/+', 'test-1'];

async function startS3(): Promise<ObjectStore> {
  if (s3Missing) throw new Error(s3Missing);
  const host = `127.0.0.1:${await start(temporaryFolder())}`;
  const root = new S3Client({
    endpoint: `http://${host}`,
    region,
    accessKeyId: user,
    secretAccessKey: secret,
    // With this style the name of an object follows the host directly, so writing an object creates a bucket.
    virtualHostedStyle: true,
  });
  let count = 0;
  return {
    async freshBucket() {
      const name = `bucket-${++count}`;
      await root.write(name, '');
      return `http://${[user, secret].map(encodeURIComponent).join(':')}@${host}/${name}?region=${region}`;
    },
  };
}

/** Returns the port. */
async function start(folder: string): Promise<number> {
  const said = join(folder, 'said');
  writeFileSync(said, '');
  const script = ['/usr/bin/python3', join(import.meta.dir, 'object-store.py'), folder, user, secret, region];
  const store = await startDaemon(script, { output: said });
  return eventually('the object store prints its port', async () => {
    const [, port] = /^(\d+)$/m.exec(readFileSync(said, 'utf8')) ?? [];
    if (port !== undefined) return Number(port);
    if (!store.isRunning()) throw new Error(`the object store did not start: ${readFileSync(said, 'utf8')}`);
    return undefined;
  });
}
