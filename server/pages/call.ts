import { type Input, type JsonOperationName, listOperations, type Output } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { validate } from '../http/validate.ts';
import { Rendered } from '../operations/rendered.ts';
import type { PageContext, SignedIn, SiteParts } from './site.tsx';

const rows = new Map(listOperations().map((row) => [row.name, row]));

/** Carries out an operation of the API for whoever is signed in, by the API's own rules. */
export async function carryOut<N extends JsonOperationName>(
  { handlers }: SiteParts,
  c: PageContext,
  { caller }: SignedIn,
  name: N,
  typed: unknown,
): Promise<Output<N>> {
  const row = rows.get(name);
  if (!row) throw new Error(`there is no operation ${name}`);
  requireScopes(caller, row.scopes);
  const input = validate(row.input, typed) as Input<N>;
  const answer = await handlers[name]({ name, caller, input, address: () => c.var.address });
  if (answer instanceof Rendered) throw new Error(`${name} answers text, which no page reads`);
  return answer as Output<N>;
}
