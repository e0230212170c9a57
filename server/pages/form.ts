import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { RecentPasswordNeeded } from '../auth/recent-password.ts';
import { readBody } from '../http/body.ts';
import { messageFor, PageError } from './error-page.tsx';
import type { PageContext } from './site.ts';
import { text } from './text/text.ts';

/** No form of ours is larger. */
const maxBytes = 65_536;

export class Form {
  readonly #fields: readonly (readonly [string, string])[];

  constructor(fields: Iterable<readonly [string, string]>) {
    this.#fields = [...fields];
  }

  /** Returns the value of a field, or an empty string. */
  get(name: string): string {
    return this.all(name)[0] ?? '';
  }

  /** Returns all values of a field, such as those of checkboxes. */
  all(name: string): string[] {
    return this.#fields.filter(([key]) => key === name).map(([, value]) => value);
  }
}

export async function readForm(request: Request): Promise<Form> {
  const body = await readBody(request, maxBytes);
  if (body.kind === 'strings') return new Form(body.fields);
  throw new ParleyError('unsupported_media_type', text.errors.formType);
}

/** A form with an error. The page shows it again with its values. */
export class RejectedForm {
  readonly form: Form;
  readonly status: number;
  /** Set if the error is not about single fields. */
  readonly message: string | undefined;
  /** Messages by field. */
  readonly faults: Readonly<Record<string, string>>;

  constructor(form: Form, status: number, message: string | undefined, faults: Readonly<Record<string, string>> = {}) {
    this.form = form;
    this.status = status;
    this.message = message;
    this.faults = faults;
  }
}

/** Errors that the form shows. All others get the error page. */
const shownInForm: ReadonlySet<ErrorCode> = new Set([
  'validation_failed',
  'conflict',
  'forbidden',
  'insufficient_scope',
  'unavailable',
]);

/**
 * Runs the work of a form. Returns its result, or the rejected form if the work throws an error that the form shows. The
 * status is that of the error by default, and always if the server is at fault.
 */
export async function attempt<T>(c: PageContext, work: () => Promise<T>, status?: number): Promise<T | RejectedForm> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ParleyError) || !shownInForm.has(error.code)) throw error;
    if (error instanceof PageError || error instanceof RecentPasswordNeeded) throw error;
    const { code, details } = error;
    const own = errors[code].status;
    const faults = Object.fromEntries(details.map((detail) => [detail.field, detail.message]));
    return new RejectedForm(
      c.var.form,
      own < 500 ? (status ?? own) : own,
      details.length === 0 ? messageFor(error) : undefined,
      faults,
    );
  }
}

/** Rejects a form that was sent too often. */
export function throttled(c: PageContext, reason: string, seconds: number): RejectedForm {
  c.header('retry-after', String(seconds));
  const message = text.fields.throttled({ reason, wait: text.common.wait(seconds) });
  return new RejectedForm(c.var.form, 429, message);
}
