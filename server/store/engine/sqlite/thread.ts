import { parentPort } from 'node:worker_threads';
import { Connection } from './connection.ts';
import type { Call, Failure, Request, Response, Result } from './protocol.ts';

/**
 * The writer thread. A slow disk sync blocks only this thread. It has the one connection that writes: SQLite's write lock
 * replaces all locks of `Tx`.
 */
let connection: Connection | undefined;
let isDurable = true;

/** The running transaction. */
let current: number | undefined;

/** The last transaction that failed. It is rolled back already, and further calls for it fail in the same way. */
let failed: { readonly transaction: number; readonly failure: Failure } | undefined;

parentPort?.on('message', (text: string) => {
  parentPort?.postMessage(JSON.stringify(handle(JSON.parse(text) as Request)));
});

function handle(request: Request): Response {
  if ('open' in request) return [attempt(() => open(request.open))];
  const opened = connection;
  if (!opened) return [{ failure: { message: 'the database is not open' } }];
  if ('close' in request) return [attempt(() => opened.close())];
  return request.calls.map((call) => executeIn(request.transaction, opened, call));
}

function open(file: string): void {
  connection = new Connection(file, { readonly: false });
  connection.get('PRAGMA journal_mode = WAL');
  connection.run('PRAGMA synchronous = FULL');
}

/** Rejects calls for a transaction that has ended: they would run outside of any transaction. */
function executeIn(transaction: number, opened: Connection, call: Call): Result {
  if (call[0] === 'begin') current = transaction;
  if (current !== transaction) {
    return failed?.transaction === transaction ? failed : { failure: { message: `too late for ${call[0]}` } };
  }
  const result = attempt(() => execute(opened, call));
  if ('failure' in result) {
    failed = { transaction, failure: result.failure };
    attempt(() => execute(opened, ['rollback']));
  }
  if ('failure' in result || call[0] === 'commit' || call[0] === 'rollback') current = undefined;
  return result;
}

function attempt(work: () => unknown): Result {
  try {
    return { value: work() };
  } catch (error) {
    const { message, code, errno } = error as Failure;
    return { failure: { message, code, errno } };
  }
}

function execute(opened: Connection, call: Call): unknown {
  switch (call[0]) {
    case 'begin':
      return begin(opened, call[1]);
    case 'commit':
      return opened.run('COMMIT');
    case 'rollback':
      return opened.inTransaction && opened.run('ROLLBACK');
    case 'takeIds':
      return {
        messages: advance(opened, 'messages', call[1].messages),
        events: advance(opened, 'events', call[1].events),
      };
    case 'bulk':
      return opened.bulk(call[1], call[2], call[3]);
    default:
      return opened[call[0]](call[1], call[2]);
  }
}

/** A relaxed commit becomes durable with the next full one, which syncs the whole log. */
function begin(opened: Connection, durable: boolean): void {
  if (durable !== isDurable) opened.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
  isDurable = durable;
  opened.run('BEGIN IMMEDIATE');
}

/** Returns the last id taken. */
function advance(opened: Connection, name: string, count: number): number {
  if (count === 0) return 0;
  const row = opened.get<{ last_id: number }>(
    'UPDATE id_counters SET last_id = last_id + $2 WHERE name = $1 RETURNING last_id',
    [name, count],
  );
  if (!row) throw new Error(`id_counters has no row ${name}`);
  return row.last_id;
}
