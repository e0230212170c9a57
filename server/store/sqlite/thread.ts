import { parentPort } from 'node:worker_threads';
import type { Answer, Failure, Request, Result } from './messages.ts';
import { type Call, Writer } from './writer.ts';

/** The thread that writes. A disk that takes long to make safe what was written holds up nothing but this. */
let writer: Writer | undefined;

/** The transaction that is under way. */
let current: number | undefined;

/** The last one that failed. It has been rolled back, and what is still asked for it fails in the same way. */
let failed: { readonly transaction: number; readonly failure: Failure } | undefined;

parentPort?.on('message', (text: string) => {
  parentPort?.postMessage(JSON.stringify(answer(JSON.parse(text) as Request)));
});

function answer(request: Request): Answer {
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
  return request.calls.map((call) => carryOut(open, request.transaction, call));
}

/** What comes for a transaction that is over must not be done: it would be a transaction of its own. */
function carryOut(open: Writer, transaction: number, call: Call): Result {
  if (call[0] === 'begin') current = transaction;
  if (current !== transaction) {
    return failed?.transaction === transaction ? failed : { failure: { message: `too late for ${call[0]}` } };
  }
  const result = attempt(() => open.carryOut(call));
  if ('failure' in result) {
    failed = { transaction, failure: result.failure };
    attempt(() => open.carryOut(['rollback']));
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
