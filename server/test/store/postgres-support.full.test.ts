import { describe, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { readSettings } from '../../config.ts';
import { openStore, unsupported } from '../../store/engine/open.ts';
import { startDaemon, temporaryFolder } from '../support/cleanup.ts';
import { emptyEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { postgresMissing } from '../support/postgres.ts';
import { quietPort } from '../support/quiet-port.ts';
import { describeUnless, findServer, require } from '../support/requirements.ts';

const binary = findServer('pgbouncer');
const pgbouncerMissing = postgresMissing ?? require(binary !== undefined, 'PgBouncer', 'pgbouncer');

/** Starts PgBouncer in front of a database, and returns the URL through it. */
async function poolFor(databaseUrl: string, settings: readonly string[]): Promise<string> {
  const { hostname, port, username, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const listen = await quietPort();
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `${database} = host=${hostname} port=${port} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listen}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...settings,
  ];
  await Bun.write(file, lines.join('\n'));
  // It refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  await startDaemon([binary ?? '', ...asUser, file]);
  await eventually('PgBouncer listens', () => listens(listen));
  return `postgres://${username}@127.0.0.1:${listen}/${database}`;
}

const listens = (port: number) =>
  new Promise<true | undefined>((resolve) => {
    const probe = connect(port, '127.0.0.1', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(undefined));
  });

const ignored =
  'statement_timeout, lock_timeout, idle_in_transaction_session_timeout, tcp_keepalives_idle, tcp_keepalives_interval, tcp_keepalives_count, enable_seqscan, jit, gin_pending_list_limit';

describeUnless(pgbouncerMissing, 'PgBouncer before PostgreSQL', () => {
  for (const [name, settings] of [
    ['that rejects settings of connections', ['pool_mode = transaction']],
    ['in transaction mode', ['pool_mode = transaction', `ignore_startup_parameters = ${ignored}`]],
    ['in session mode', ['pool_mode = session', `ignore_startup_parameters = ${ignored}`]],
  ] as const) {
    test(`${name} is refused, with the reason`, async () => {
      const env = await emptyEnvironment('postgres');
      const DATABASE_URL = await poolFor(env.DATABASE_URL ?? '', settings);
      const opening = openStore(readSettings({ ...env, DATABASE_URL }), Date.now);
      await expect(opening).rejects.toThrow('DATABASE_URL leads to a connection pooler');
    });
  }
});

describe('a PostgreSQL server', () => {
  const server = { version: 150_004, encoding: 'UTF8', seqscan: 'off' };

  test('is supported from version 14 on', () => {
    expect(unsupported(server)).toBeUndefined();
    expect(unsupported({ ...server, version: 140_000 })).toBeUndefined();
    expect(unsupported({ ...server, version: 130_014 })).toBe(
      'This is PostgreSQL 13. Parley needs version 14 or newer.',
    );
  });

  test('must store text as UTF-8', () => {
    expect(unsupported({ ...server, encoding: 'SQL_ASCII' })).toContain('SQL_ASCII');
  });
});
