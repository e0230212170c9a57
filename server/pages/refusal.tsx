/** @jsxImportSource hono/jsx */
import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { type Faults, faultsIn } from './form.ts';
import { Notice } from './parts.tsx';

/** Why what a form asks for was not done. The page shows it with the form, and keeps what was typed. */
export interface Refusal {
  readonly status: number;
  readonly faults: Faults;
  /** What is wrong, where that is about no single field. */
  readonly message: string | undefined;
}

export type Tried<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** Where to go on to. */
export interface Way {
  readonly href: string;
  readonly words: string;
}

/** A refusal that gets a page of its own, and what that page says beside the message. */
export class PageRefusal extends ParleyError {
  readonly title: string | undefined;
  readonly way: Way | undefined;

  constructor(code: ErrorCode, message: string, { title, way }: { title?: string; way?: Way }) {
    super(code, message);
    this.title = title;
    this.way = way;
  }
}

/** What somebody can mend in the form itself. Everything else gets a page of its own. */
const mendable: ReadonlySet<ErrorCode> = new Set(['validation_failed', 'conflict', 'forbidden', 'insufficient_scope']);

export async function tried<T>(work: () => Promise<T>): Promise<Tried<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof ParleyError) || !mendable.has(error.code) || error instanceof PageRefusal) throw error;
    const faults = faultsIn(error);
    const message = faults ? undefined : error.message;
    return { ok: false, refusal: { status: errors[error.code].status, faults: faults ?? {}, message } };
  }
}

/** What is wrong with a form as a whole. */
export function RefusalNotice({ refusal }: { refusal: Refusal | undefined }) {
  if (refusal?.message === undefined) return null;
  return (
    <Notice kind="bad">
      <p>{refusal.message}</p>
    </Notice>
  );
}
