import type { Call } from './writer.ts';

/**
 * What goes between the threads, as JSON: rows in one text cross in half the time that they take as objects. Requests are
 * answered in their order.
 */
export type Request =
  | { readonly open: string }
  | { readonly close: true }
  /** Of one transaction, to be carried out one after the other. Once one has failed, so do all that follow. */
  | { readonly transaction: number; readonly calls: readonly Call[] };

/** What came of each call; of opening and closing, in one. */
export type Answer = readonly Result[];

export type Result = { readonly value?: unknown } | { readonly failure: Failure };

/** What others look at in an error. */
export interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly errno?: unknown;
}
