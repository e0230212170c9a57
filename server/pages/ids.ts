import { ParleyError } from '@parley/contract';
import type { PageContext } from './site.tsx';

/** A number that can be somebody's id; undefined for any other text. */
export function readId(text: string): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/** The id in the address of a page. */
export function idIn<Id extends number>(c: PageContext, name: string): Id {
  const id = readId(c.req.param(name) ?? '');
  if (id === undefined) throw new ParleyError('not_found', 'There is nothing at this address.');
  return id as Id;
}
