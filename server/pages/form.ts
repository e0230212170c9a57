import { ParleyError } from '@parley/contract';
import type { z } from 'zod';
import { readBody } from '../http/body.ts';
import { validate } from '../http/validate.ts';

/** No form of ours is larger. */
const mostBytes = 65_536;

/** The fields of a form, as they were typed. */
export class Form {
  readonly #fields: readonly (readonly [string, string])[];

  constructor(fields: Iterable<readonly [string, string]>) {
    this.#fields = [...fields];
  }

  /** The value of a field, or nothing typed. */
  get(name: string): string {
    return this.#fields.find(([key]) => key === name)?.[1] ?? '';
  }

  /** All values of a field that can be given several times, such as boxes that are ticked. */
  all(name: string): string[] {
    return this.#fields.filter(([key]) => key === name).map(([, value]) => value);
  }
}

export async function readForm(request: Request): Promise<Form> {
  const body = await readBody(request, mostBytes);
  if (body.kind !== 'strings') throw new ParleyError('unsupported_media_type', 'Send the form as a form.');
  return new Form(body.fields);
}

/** What is wrong with each field, for the form to show beside it. */
export type Faults = Readonly<Record<string, string>>;

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: Faults };

/** Checks what was typed against a schema of the contract. */
export function check<T>(schema: z.ZodType<T>, typed: unknown): Checked<T> {
  try {
    return { ok: true, value: validate(schema, typed) };
  } catch (error) {
    const faults = faultsIn(error);
    if (!faults) throw error;
    return { ok: false, faults };
  }
}

/** The faults that a refusal names by field; nothing where it is about something else. */
export function faultsIn(error: unknown): Faults | undefined {
  if (!(error instanceof ParleyError) || error.details.length === 0) return undefined;
  return Object.fromEntries(error.details.map(({ field, message }) => [field, message]));
}
