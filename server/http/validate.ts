import { type ErrorDetail, ParleyError } from '@parley/contract';
import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';

/** Checks input against a row's schema; a refusal names every field that is wrong, in plain words. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const known = Object.keys((schema as unknown as { shape?: object }).shape ?? {});
  const details = result.error.issues.flatMap((issue) => toDetails(issue, known));
  const [first, ...rest] = details;
  const summary = first ? `${first.field}: ${first.message}` : 'The input is not valid.';
  throw new ParleyError(
    'validation_failed',
    rest.length > 0 ? `${summary} (and ${rest.length} more)` : summary,
    details,
  );
}

function toDetails(issue: z.core.$ZodIssue, known: readonly string[]): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: key, message: unknownField(key, known) }));
  }
  return [{ field: fieldName(issue.path), message: describe(issue) }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i > 0 ? '.' : ''}${String(part)}`))
    .join('');
}

/** Names the field that was probably meant, where one is near. */
function unknownField(key: string, known: readonly string[]): string {
  if (known.length === 0) return 'is not a field of this operation';
  const nearest = closest(key.slice(0, 64), [...known]);
  const near = distance(key.slice(0, 64), nearest) <= Math.max(2, Math.floor(nearest.length / 3));
  return near ? `is not a field of this operation; did you mean ${nearest}?` : 'is not a field of this operation';
}

const articles: Record<string, string> = {
  int: 'an integer',
  number: 'an integer',
  string: 'a string',
  array: 'a list',
  boolean: 'true or false',
  object: 'an object',
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
