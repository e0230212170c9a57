import { ParleyError } from '@parley/contract';
import type { z } from 'zod';
import { readBody } from '../http/body.ts';
import { validate } from '../http/validate.ts';

/** No form of ours is larger. */
const maxBytes = 65_536;

export class Form {
  readonly #fields: readonly (readonly [string, string])[];

  constructor(fields: Iterable<readonly [string, string]>) {
    this.#fields = [...fields];
  }

  /** Returns the value of a field, or an empty string. */
  get(name: string): string {
    return this.#fields.find(([key]) => key === name)?.[1] ?? '';
  }

  /** Returns all values of a field, such as those of checkboxes. */
  all(name: string): string[] {
    return this.#fields.filter(([key]) => key === name).map(([, value]) => value);
  }
}

export async function readForm(request: Request): Promise<Form> {
  const body = await readBody(request, maxBytes);
  if (body.kind !== 'strings')
    throw new ParleyError(
      'unsupported_media_type',
      'Send the form as application/x-www-form-urlencoded or multipart/form-data.',
    );
  return new Form(body.fields);
}

/** Messages by field. */
export type Faults = Readonly<Record<string, string>>;

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: Faults };

/** Validates the values of a form. */
export function check<T>(schema: z.ZodType<T>, typed: unknown): Checked<T> {
  try {
    return { ok: true, value: validate(schema, typed) };
  } catch (error) {
    const faults = faultsIn(error);
    if (!faults) throw error;
    return { ok: false, faults };
  }
}

/** Returns the messages of an error by field, or undefined if it has none. */
export function faultsIn(error: unknown): Faults | undefined {
  if (!(error instanceof ParleyError) || error.details.length === 0) return undefined;
  return Object.fromEntries(error.details.map(({ field, message }) => [field, message]));
}
