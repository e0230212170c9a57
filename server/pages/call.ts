import { type Input, type JsonOperationName, listOperations, type Output } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { isForwarded } from '../http/forwarded.ts';
import { validate } from '../http/validate.ts';
import { PreparedJson } from '../operations/results.ts';
import type { PageContext, SignedIn, SiteDeps } from './site.ts';

/** Executes an operation of the API as the signed-in user, with the same validation and scopes. */
export async function callOperation<N extends JsonOperationName>(
  { contract, handlers }: SiteDeps,
  c: PageContext,
  { caller }: SignedIn,
  name: N,
  typed: unknown,
): Promise<Output<N>> {
  const row = listOperations(contract).find((one) => one.name === name);
  if (!row) throw new Error(`there is no operation ${name}`);
  requireScopes(caller, row.scopes);
  const input = validate(row.input, typed) as Input<N>;
  const { context } = c.env;
  const result = await handlers[name]({
    name,
    caller,
    input,
    address: () => context.clientIp(),
    isForwarded: () => isForwarded(context.request),
  });
  if (result instanceof PreparedJson) throw new Error(`${name} returns JSON text, which no page reads`);
  return result as Output<N>;
}
