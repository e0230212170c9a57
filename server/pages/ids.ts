import { ParleyError } from '@parley/contract';
import type { PageContext } from './site.ts';
import { text } from './text/text.ts';

/** Parses an id. Returns undefined for any other text. */
export function readId(text: string): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/** Returns the id in the path of a page. Throws `not_found` for any other text. */
export function idIn<Id extends number>(c: PageContext, name: string): Id {
  const id = readId(c.req.param(name) ?? '');
  if (id === undefined) throw new ParleyError('not_found', text.errors.nothing);
  return id as Id;
}
