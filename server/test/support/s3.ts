import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3Client } from 'bun';
import { endWithUs, temporaryFolder } from './cleanup.ts';

/** OpenStack Swift, which speaks S3: of our own, on free ports, in a temporary folder, gone when the process is. */
export interface ObjectStore {
  /** The address of a new, empty bucket, as `S3_URL` takes it. */
  freshBucket(): Promise<string>;
}

const parts = ['account', 'container', 'object', 'proxy'];

/** With CI set a missing server fails the run; elsewhere its suites are skipped, and this says what to install. */
export const s3Missing: string | undefined = parts.every((part) => existsSync(`/usr/bin/swift-${part}-server`))
  ? undefined
  : `OpenStack Swift is not installed: apt-get install ${parts.map((part) => `swift-${part}`).join(' ')}`;

if (s3Missing && process.env.CI) throw new Error(s3Missing);

let started: Promise<ObjectStore> | undefined;

/** The one server that all suites of a test run share. */
export function sharedS3(): Promise<ObjectStore> {
  started ??= startS3();
  return started;
}

/** How long a test may have to wait for the server: it starts in 3 s, but a busy machine may be many times slower. */
export const s3StartMs = 90_000;

const [user, secret, region] = ['parley:tester', 's3cret/+', 'test-1'];

async function startS3(): Promise<ObjectStore> {
  if (s3Missing) throw new Error(s3Missing);
  const host = `127.0.0.1:${await start(temporaryFolder())}`;
  const root = new S3Client({
    endpoint: `http://${host}`,
    region,
    accessKeyId: user,
    secretAccessKey: secret,
    // So the name of an object follows right after the host, and a bucket is made as if it were one.
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

/** Answers the port. */
async function start(folder: string): Promise<number> {
  const said = join(folder, 'said');
  writeFileSync(said, '');
  // Through a shell that leaves it behind: the test runner ends the children of a test that took too long. What a shell
  // leaves behind ignores the signal that ends it with us, unless it is told not to.
  const script = ['/usr/bin/python3', join(import.meta.dir, 'object-store.py'), folder, user, secret, region];
  const starter = Bun.spawn(
    ['sh', '-c', '"$@" >"$0" 2>&1 & echo $!', said, 'env', '--default-signal=QUIT', ...script],
    { stdout: 'pipe', stdin: 'ignore' },
  );
  endWithUs({ pid: Number(await new Response(starter.stdout).text()) });
  for (let waitedMs = 0; waitedMs < s3StartMs; waitedMs += 50) {
    const [, port] = /^(\d+)$/m.exec(readFileSync(said, 'utf8')) ?? [];
    if (port !== undefined) return Number(port);
    await Bun.sleep(50);
  }
  throw new Error(`the object store did not start: ${readFileSync(said, 'utf8')}`);
}
