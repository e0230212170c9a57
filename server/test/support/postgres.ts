import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { SQL } from 'bun';
import { openStore } from '../../store/engine/open.ts';
import { type Noted, startDaemon, temporaryFolder } from './cleanup.ts';
import { eventually } from './eventually.ts';
import { quietPort } from './quiet-port.ts';
import { require } from './requirements.ts';

/** A PostgreSQL server on a free port, in a temporary folder. It ends with this process. */
export interface Postgres {
  /** The URL without a database, as `postgres://user@host:port`. */
  readonly server: string;
  /** Returns the URL of a new database with today's schema, copied from a template: migrating takes ten times as long. */
  freshDatabase(): Promise<string>;
  /** Returns the URL of a new database without any schema. */
  emptyDatabase(): Promise<string>;
  /** Returns the URL of a copy of a database. Fails if somebody is connected to it. */
  copyDatabase(url: string): Promise<string>;
  readonly binaries: string;
}

/** A server for one test: it can be stopped, and started again on the same port. */
export interface PrivatePostgres extends Postgres {
  /** `fast` ends every session and shuts down in order; `immediate` is a crash, and the next start recovers from it. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
}

/** The folders in which distributions install the server's programs. */
function findBinaries(): string | undefined {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((v) => join(base, v, 'bin')), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

const binaries = findBinaries();

export const postgresMissing = require(binaries !== undefined, 'PostgreSQL', 'postgresql');

/** The server that the test run started for all of its processes, as `postgres://user@host:port`. */
export const sharedPostgresVariable = 'PARLEY_TEST_POSTGRES';

let shared: Promise<Postgres> | undefined;

/** The one server that all suites of a test run share. */
export function sharedPostgres(): Promise<Postgres> {
  const running = process.env[sharedPostgresVariable];
  shared ??= running === undefined ? startPostgres({ fsync: false }) : Promise.resolve(databasesOn(running));
  return shared;
}

export async function startPostgres(options: { fsync: boolean }): Promise<PrivatePostgres> {
  if (binaries === undefined) throw new Error(postgresMissing);
  const folder = temporaryFolder();
  const asUser = dropRoot(folder);
  const data = join(folder, 'data');
  const initdb = [
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
  ];
  await run([...asUser, ...initdb]);
  const port = await quietPort();
  // Autovacuum is off, because some tests check that nothing writes.
  const forTests = options.fsync ? [] : ['fsync=off', 'autovacuum=off'];
  const settings = [...forTests, 'max_connections=300', 'listen_addresses=127.0.0.1'];
  const arguments_ = ['-D', data, '-p', String(port), '-k', folder, ...settings.flatMap((s) => ['-c', s])];
  const server = `postgres://parley@127.0.0.1:${port}`;
  let running: Noted | undefined;
  const start = async () => {
    running = await startDaemon([...asUser, join(binaries, 'postgres'), ...arguments_]);
    await untilReady(`${server}/postgres`);
  };
  await start();
  return {
    ...databasesOn(server),
    start,
    stop: async (mode) => {
      running?.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await eventually('PostgreSQL has ended', async () => !running?.isRunning() || undefined);
      running?.forget();
    },
  };
}

/** Creates databases on a running server. The process id in their names keeps several processes apart. */
function databasesOn(server: string): Postgres {
  let count = 0;
  let template: Promise<string> | undefined;
  const create = async (clause = ''): Promise<string> => {
    const name = `test_${process.pid}_${++count}`;
    await using admin = new SQL(`${server}/postgres`, { max: 1 });
    await admin.unsafe(`CREATE DATABASE ${name} ${clause}`);
    return name;
  };
  const migrated = async () => {
    const name = await create();
    const engine = await openStore(
      { folder: temporaryFolder(), databaseUrl: `${server}/${name}`, connections: 2 },
      Date.now,
    );
    await engine.close();
    return name;
  };
  return {
    server,
    binaries: binaries ?? '',
    emptyDatabase: async () => `${server}/${await create()}`,
    copyDatabase: async (url) => `${server}/${await create(`TEMPLATE ${new URL(url).pathname.slice(1)}`)}`,
    freshDatabase: async () => {
      template ??= migrated();
      return `${server}/${await create(`TEMPLATE ${await template}`)}`;
    },
  };
}

/** PostgreSQL refuses to run as root. Then it runs as the user of Debian's package, or as nobody. */
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

function untilReady(url: string): Promise<true> {
  return eventually('PostgreSQL is ready', async () => {
    await using sql = new SQL(url, { max: 1 });
    return sql.unsafe('SELECT 1').then(
      () => true as const,
      () => undefined,
    );
  });
}

/** Returns a port that nothing listens on. */
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
