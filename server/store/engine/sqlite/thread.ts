import { parentPort } from 'node:worker_threads';
import type { Failure, Request, Response, Result } from './protocol.ts';
import { type Call, Writer } from './writer.ts';

/** The writer thread. A slow disk sync blocks only this thread. */
let writer: Writer | undefined;

/** The running transaction. */
let current: number | undefined;

/** The last transaction that failed. It is rolled back already, and further calls for it fail in the same way. */
let failed: { readonly transaction: number; readonly failure: Failure } | undefined;

parentPort?.on('message', (text: string) => {
  parentPort?.postMessage(JSON.stringify(handle(JSON.parse(text) as Request)));
});

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
    const { message, code, errno } = error as Failure;
    return { failure: { message, code, errno } };
  }
}
