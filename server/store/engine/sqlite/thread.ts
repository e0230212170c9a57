import { parentPort } from 'node:worker_threads';
import { procedures } from '../../procedures.ts';
import { LocalTransaction } from './local-transaction.ts';
import type { Failure, ProcedureCall, ProcedureResult, Request, Response, Result } from './protocol.ts';
import { type Call, Writer } from './writer.ts';

/** The writer thread. A slow disk sync blocks only this thread. */
let writer: Writer | undefined;

/** The running transaction. */
let current: number | undefined;

/** The last transaction that failed. It is rolled back already, and further calls for it fail in the same way. */
let failed: { readonly transaction: number; readonly failure: Failure } | undefined;

/** Requests are handled one after the other. */
let handled: Promise<void> = Promise.resolve();

parentPort?.on('message', (request: string | ProcedureCall) => {
  handled = handled.then(async () => {
    parentPort?.postMessage(
      typeof request === 'string'
        ? JSON.stringify(handle(JSON.parse(request) as Request))
        : [await runProcedure(request)],
    );
  });
});

/** Runs a procedure in a transaction of its own. */
async function runProcedure({ procedure, input, at }: ProcedureCall): Promise<Result> {
  const open = writer;
  const found = procedures[procedure];
  if (!open || !found) return { failure: { message: `there is no procedure ${procedure}, or no database` } };
  try {
    open.execute(['begin', true]);
    const tx = new LocalTransaction(open);
    const result = await found.run(tx, input as never, () => at);
    open.execute(['commit']);
    return { value: { result, rows: tx.appending.rows } satisfies ProcedureResult };
  } catch (error) {
    attempt(() => open.execute(['rollback']));
    return failureOf(error);
  }
}

function handle(request: Request): Response {
  if ('open' in request) {
    return [
      attempt(() => {
        writer = new Writer(request.open);
      }),
    ];
  }
  const open = writer;
  if (!open) return [{ failure: { message: 'the database is not open' } }];
  if ('close' in request) return [attempt(() => open.close())];
  return request.calls.map((call) => execute(open, request.transaction, call));
}

/** Rejects calls for a transaction that has ended: they would run outside of any transaction. */
function execute(open: Writer, transaction: number, call: Call): Result {
  if (call[0] === 'begin') current = transaction;
  if (current !== transaction) {
    return failed?.transaction === transaction ? failed : { failure: { message: `too late for ${call[0]}` } };
  }
  const result = attempt(() => open.execute(call));
  if ('failure' in result) {
    failed = { transaction, failure: result.failure };
    attempt(() => open.execute(['rollback']));
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
