import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { Scope } from './scopes.ts';

export type Method = 'GET' | 'POST';

/** One row of the table: everything that is said about an operation, said once. */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly method: Method;
  /** What a token needs; nothing where any valid token will do. */
  readonly scopes: readonly Scope[];
  readonly summary: string;
  /** Whether `Idempotency-Key` is honoured. */
  readonly idempotent?: true;
  readonly input: I;
  /** Whether the signature of a link to a file stands in for a token. */
  readonly takesLinks?: true;
  /** Whether the body may be the bytes of a file, and the fields then stand in the address. */
  readonly rawFile?: true;
  /** The answer beside `success`; or a file, which is answered as its bytes. */
  readonly output: O;
  /** Codes beyond the common ones. */
  readonly errors: readonly ErrorCode[];
  /** A call by user 1 in the world of `examples.ts`, and what it gives there. */
  readonly example: { readonly input: z.input<I>; readonly output: z.input<O> };
}

/** Keeps the schemas' types; a row is otherwise plain data. */
export function operation<I extends z.ZodType, O extends z.ZodType>(row: Operation<I, O>): Operation<I, O> {
  return row;
}
