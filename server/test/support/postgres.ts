import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { SQL } from 'bun';
import { endWithUs, temporaryFolder } from './cleanup.ts';
import { quietPort } from './quiet-port.ts';

/** A PostgreSQL of our own: on a free port, in a temporary folder, gone when the process is. */
export interface Postgres {
  /** The address of a new, empty database. */
  freshDatabase(): Promise<string>;
  readonly binaries: string;
}

/** One that nobody else uses: it can be away for a while, and comes back on the same port with what was committed. */
export interface PrivatePostgres extends Postgres {
  /** `fast` ends every session and shuts down in order; `immediate` is a crash, and the next start recovers from it. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
}

/** Where Debian and most others put the server's programs. */
function findBinaries(): string | undefined {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((v) => join(base, v, 'bin')), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

const binaries = findBinaries();

/** With CI set a missing server fails the run; elsewhere its suites are skipped, and this says what to install. */
export const postgresMissing: string | undefined =
  binaries === undefined ? 'PostgreSQL is not installed: apt-get install postgresql' : undefined;

if (postgresMissing && process.env.CI) throw new Error(postgresMissing);

let started: Promise<Postgres> | undefined;

/** The one server that all suites of a test run share. */
export function sharedPostgres(): Promise<Postgres> {
  started ??= startPostgres({ fsync: false });
  return started;
}

export async function startPostgres(options: { fsync: boolean }): Promise<PrivatePostgres> {
  if (binaries === undefined) throw new Error(postgresMissing);
  const folder = temporaryFolder();
  const asUser = dropRoot(folder);
  const data = join(folder, 'data');
  await run([
    ...asUser,
    join(binaries, 'initdb'),
    '-D',
    data,
    '-U',
    'parley',
    '-E',
    'UTF8',
    '--locale=C',
    '-A',
    'trust',
    '-N',
  ]);
  const port = await quietPort();
  // A server that is gone tomorrow needs no cleaning; and a test that looks whether anybody writes is not to see the cleaner.
  const forTests = options.fsync ? [] : ['fsync=off', 'autovacuum=off'];
  const settings = [...forTests, 'max_connections=200', 'listen_addresses=127.0.0.1'];
  const arguments_ = ['-D', data, '-p', String(port), '-k', folder, ...settings.flatMap((s) => ['-c', s])];
  const url = (database: string) => `postgres://parley@127.0.0.1:${port}/${database}`;
  const start = async () => {
    // Through a shell that leaves it behind: the test runner ends the children of a test that took too long.
    const starter = Bun.spawn(
      ['sh', '-c', '"$@" >/dev/null 2>&1 & echo $!', 'sh', ...asUser, join(binaries, 'postgres'), ...arguments_],
      { stdout: 'pipe', stdin: 'ignore' },
    );
    endWithUs({ pid: Number(await new Response(starter.stdout).text()) });
    await untilReady(url('postgres'));
  };
  await start();
  let count = 0;
  return {
    binaries,
    async freshDatabase() {
      const name = `test_${++count}`;
      const admin = new SQL(url('postgres'), { max: 1 });
      await admin.unsafe(`CREATE DATABASE ${name}`);
      await admin.close();
      return url(name);
    },
    start,
    stop: (mode) => run([...asUser, join(binaries, 'pg_ctl'), 'stop', '-w', '-m', mode, '-D', data]),
  };
}

/** PostgreSQL refuses to run as root: it is then started as the user that Debian's package makes, or as nobody. */
function dropRoot(folder: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const id = (flag: string) => {
    for (const user of ['postgres', 'nobody']) {
      const asked = Bun.spawnSync(['id', flag, user]);
      if (asked.success) return Number(asked.stdout.toString());
    }
    throw new Error('there is neither a user postgres nor nobody');
  };
  const [uid, gid] = [id('-u'), id('-g')];
  chmodSync(dirname(folder), 0o711);
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o700);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe', cwd: tmpdir() });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${complaint}`);
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const sql = new SQL(url, { max: 1 });
    try {
      await sql.unsafe('SELECT 1');
      return;
    } catch (error) {
      if (tries > 600) throw error;
      await Bun.sleep(50);
    } finally {
      await sql.close().catch(() => {});
    }
  }
}

/** A port that nothing listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
