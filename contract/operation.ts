import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { Scope } from './scopes.ts';

export type Method = 'GET' | 'POST';

/** One row of the table: all that is said about an operation. */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly method: Method;
  /** The scopes that a token needs. Empty if any valid token will do. */
  readonly scopes: readonly Scope[];
  readonly summary: string;
  /** True if `Idempotency-Key` is supported. */
  readonly idempotent?: true;
  readonly input: I;
  /** True if a signed link to a file replaces a token. */
  readonly takesLinks?: true;
  /** True if only a page in a browser may call it: its effect outlives every access token. */
  readonly inBrowser?: true;
  /** True if agents get no tool for it: its effect would outlive their access, or send data to a URL that they choose. */
  readonly notForAgents?: true;
  /** True if the body may be the bytes of a file. The fields are then in the query. */
  readonly rawFile?: true;
  /** The largest file, in bytes. By default the limit of all files. */
  readonly maxFileBytes?: number;
  /** The response beside `success`, or a file or an event stream, which is the whole body. */
  readonly output: O;
  /** Codes beyond `commonErrors`. */
  readonly errors: readonly ErrorCode[];
  /** A call by user 1 after the calls of `examples.ts`, and its response. */
  readonly example: { readonly input: z.input<I>; readonly output: z.input<O> };
}

type Row<I extends z.ZodType, O extends z.ZodType> = Omit<Operation<I, O>, 'method' | 'scopes' | 'errors'> &
  Partial<Pick<Operation, 'errors'>>;

/** Returns a row whose type keeps those of its schemas. */
const rowOf =
  (method: Method) =>
  <I extends z.ZodType, O extends z.ZodType>(scopes: readonly Scope[], row: Row<I, O>): Operation<I, O> => ({
    method,
    scopes,
    errors: [],
    ...row,
  });

export const get = rowOf('GET');
export const post = rowOf('POST');
