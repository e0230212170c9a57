import type { AppendedRows, IdCount, Value } from '../engine.ts';
import type { BulkTexts } from './connection.ts';

export type Call =
  | readonly ['begin', durable: boolean]
  | readonly ['commit' | 'rollback']
  | readonly ['all' | 'get' | 'run', sql: string, params: readonly Value[]]
  | readonly ['bulk', texts: BulkTexts, rows: readonly (readonly Value[])[], params: readonly Value[]]
  | readonly ['takeIds', count: IdCount];

/**
 * A request to the writer thread, sent as JSON: rows in one text cross in half the time that they take as objects.
 * Responses come in the order of the requests.
 */
export type Request =
  | { readonly open: string }
  | { readonly close: true }
  /** Calls of one transaction, run in order. After one has failed, all that follow fail. */
  | { readonly transaction: number; readonly calls: readonly Call[] };

/**
 * A request to run a procedure in a transaction of its own. It crosses as a structured clone: the texts of messages are JSON,
 * and would be escaped once more within JSON. A batch of 64 takes 1.3 µs a message, and 2.9 µs as JSON.
 */
export interface ProcedureCall {
  readonly procedure: string;
  readonly input: unknown;
  /** The time of the transaction. */
  readonly at: number;
}

/** The value of the response to a `ProcedureCall`. */
export interface ProcedureResult {
  readonly result: unknown;
  readonly rows: AppendedRows | undefined;
}

/** One result for each call. Opening and closing have one. */
export type Response = readonly Result[];

export type Result = { readonly value?: unknown } | { readonly failure: Failure };

/** The fields of an error that callers use. */
export interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly errno?: unknown;
}
