import type { EventRow } from '../../log/entry.ts';
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
  | { readonly transaction: number; readonly calls: readonly Call[] }
  | ProcedureCall;

/** A request to run a procedure in a transaction of its own. */
export interface ProcedureCall {
  readonly procedure: string;
  readonly input: unknown;
  /** The time of the transaction. */
  readonly at: number;
}

/** The value of the response to a `ProcedureCall`. */
export interface ProcedureResult {
  readonly rows: AppendedRows | undefined;
  /** The outcomes, a line each. */
  readonly outcomes: readonly string[];
}

/** The rows without their texts, which follow as lines, and the number of outcomes, which follow those. */
interface Head {
  readonly after: number;
  readonly last: number;
  readonly outcomes: number;
  readonly events: readonly Pick<EventRow, 'event_id' | 'chat_id' | 'event' | 'created_at' | 'format'>[];
}

/**
 * Returns the result of a procedure as one text: its head, the text of each row, and the outcomes, a line each. All texts are
 * JSON on one line already. In a batch of 32, JSON within JSON takes twice as long, and a structured clone four times.
 */
export function toLines({ rows, outcomes }: ProcedureResult): string {
  const { after = 0, last = 0, events = [] } = rows ?? {};
  const head: Head = {
    after,
    last,
    outcomes: outcomes.length,
    events: events.map(({ event_id, chat_id, event, created_at, format }) => ({
      event_id,
      chat_id,
      event,
      created_at,
      format,
    })),
  };
  return [JSON.stringify(head), ...events.map(({ message, body }) => message ?? body), ...outcomes].join('\n');
}

/** Throws if there are more lines or fewer: each would then be taken for another. */
export function fromLines(text: string): ProcedureResult {
  const [first = '', ...lines] = text.split('\n');
  const { after, last, outcomes, events } = JSON.parse(first) as Head;
  if (lines.length !== events.length + outcomes) throw new Error('the writer thread gave another number of lines');
  const rows = events.map((event, i): EventRow => {
    const line = lines[i] ?? '';
    return event.format === null ? { ...event, body: line, message: null } : { ...event, body: '', message: line };
  });
  return { rows: last > 0 ? { after, last, events: rows } : undefined, outcomes: lines.slice(rows.length) };
}

/**
 * One result for each call, as a JSON array. Opening and closing have one, and so has a procedure that failed. One that
 * succeeded gives lines instead, which begin with an object.
 */
export type Response = readonly Result[];

export type Result = { readonly value?: unknown } | { readonly failure: Failure };

/** The fields of an error that callers use. */
export interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly errno?: unknown;
}
