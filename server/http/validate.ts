import { type ErrorDetail, ParleyError } from '@parley/contract';
import type { z } from 'zod';
import { nearest } from '../lib/nearest.ts';

/** A response must not grow with the request. */
const maxDetails = 20;

/** Shortens a name from the request for a message. */
export const shorten = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

/** Validates input against a schema. Throws `validation_failed` with a message for each wrong field. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const known = Object.keys((schema as unknown as { shape?: object }).shape ?? {});
  const faults = result.error.issues.flatMap(toFaults);
  const details = faults.slice(0, maxDetails).map((fault) => fault(known));
  const [first] = details;
  const summary = first ? `${first.field}: ${first.message}` : 'The input is not valid.';
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  throw new ParleyError('validation_failed', summary + more, details);
}

type Fault = (known: readonly string[]) => ErrorDetail;

function toFaults(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => (known) => ({ field: shorten(key), message: unknownField(shorten(key), known) }));
  }
  return [() => ({ field: fieldName(issue.path), message: describe(issue) })];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`))
    .join('');
}

/** Suggests a field with a similar name. */
function unknownField(key: string, known: readonly string[]): string {
  // Other APIs use camelCase.
  const near = nearest(
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    known,
  );
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return `is not a field of this operation${hint}`;
}

const articles: Record<string, string> = {
  int: 'an integer',
  number: 'an integer',
  string: 'a string',
  array: 'a list',
  boolean: 'true or false',
  object: 'an object',
  file: 'a file, as a part of multipart/form-data',
};

function describe(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${articles[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return issue.origin === 'array'
        ? `must have at least ${issue.minimum} element${issue.minimum === 1 ? '' : 's'}`
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array'
        ? `must have at most ${issue.maximum} elements`
        : `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    default:
      return issue.message;
  }
}
