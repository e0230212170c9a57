/** @jsxImportSource hono/jsx */
import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { type Faults, faultsIn } from './form.ts';
import { Notice } from './parts.tsx';

/** Why a form failed. The page shows it with the form and its values. */
export interface Refusal {
  readonly status: number;
  readonly faults: Faults;
  /** Set if the error is not about single fields. */
  readonly message: string | undefined;
}

export type Tried<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** A link to continue at. */
export interface Way {
  readonly href: string;
  readonly words: string;
}

/** An error with a page of its own. */
export class PageRefusal extends ParleyError {
  readonly title: string | undefined;
  readonly way: Way | undefined;

  constructor(code: ErrorCode, message: string, { title, way }: { title?: string; way?: Way }) {
    super(code, message);
    this.title = title;
    this.way = way;
  }
}

/** Errors that the form shows. All others get a page of their own. */
const shownInForm: ReadonlySet<ErrorCode> = new Set([
  'validation_failed',
  'conflict',
  'forbidden',
  'insufficient_scope',
]);

export async function tried<T>(work: () => Promise<T>): Promise<Tried<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof ParleyError) || !shownInForm.has(error.code) || error instanceof PageRefusal) throw error;
    const faults = faultsIn(error);
    const message = faults ? undefined : error.message;
    return { ok: false, refusal: { status: errors[error.code].status, faults: faults ?? {}, message } };
  }
}

export function RefusalNotice({ refusal }: { refusal: Refusal | undefined }) {
  if (refusal?.message === undefined) return null;
  return (
    <Notice kind="bad">
      <p>{refusal.message}</p>
    </Notice>
  );
}
