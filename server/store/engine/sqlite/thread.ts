import { parentPort } from 'node:worker_threads';
import { procedures } from '../../procedures.ts';
import { Connection } from './connection.ts';
import { LocalTransaction, takeIds } from './local-transaction.ts';
import {
  type Call,
  type Failure,
  type ProcedureCall,
  type Request,
  type Response,
  type Result,
  toLines,
} from './protocol.ts';

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

/** Requests are handled one after the other. */
let handled: Promise<void> = Promise.resolve();

parentPort?.on('message', (text: string) => {
  handled = handled.then(async () => {
    const request = JSON.parse(text) as Request;
    parentPort?.postMessage('procedure' in request ? await runProcedure(request) : JSON.stringify(handle(request)));
  });
});

/** Runs a procedure in a transaction of its own. */
async function runProcedure({ procedure, input, at }: ProcedureCall): Promise<string> {
  const opened = connection;
  const found = procedures[procedure];
  try {
    if (!opened || !found) throw new Error(`there is no procedure ${procedure}, or no database`);
    begin(opened, !found.isRelaxed);
    const tx = new LocalTransaction(opened);
    const outcomes = await found.run(tx, input as never, () => at);
    if (tx.error) throw tx.error;
    const lines = toLines({ rows: tx.appending.rows, outcomes: outcomes.map((outcome) => found.lines.write(outcome)) });
    opened.run('COMMIT');
    return lines;
  } catch (error) {
    attempt(() => opened && execute(opened, ['rollback']));
    return JSON.stringify([failureOf(error)] satisfies Response);
  }
}

function handle(request: Exclude<Request, ProcedureCall>): Response {
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
    return failureOf(error);
  }
}

function failureOf(error: unknown): Result {
  const { message, code, errno } = error as Failure;
  return { failure: { message, code, errno } };
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
      return takeIds(opened, call[1]);
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
