import { type Contract, listOperations, type NamedOperation, ParleyError } from '@parley/contract';
import { closest } from 'fastest-levenshtein';
import { type RawInput, stringDecoder } from './input.ts';

export interface Route {
  readonly row: NamedOperation;
  readonly decode: (raw: RawInput) => Record<string, unknown>;
}

/** A refusal because of the HTTP method, with the one that would do. */
export class MethodRefusal extends ParleyError {
  readonly allow: string;

  constructor(row: NamedOperation) {
    super('method_not_allowed', `${row.resource}.php?action=${row.action} takes ${row.method}.`);
    this.allow = row.method;
  }
}

/** Finds the row for a resource, an action and a method, or says what is wrong with them. */
export class Routes {
  readonly #byResource = new Map<string, Map<string, Route>>();

  constructor(contract: Contract) {
    for (const row of listOperations(contract)) {
      const actions = this.#byResource.get(row.resource) ?? new Map<string, Route>();
      actions.set(row.action, { row, decode: stringDecoder(row) });
      this.#byResource.set(row.resource, actions);
    }
  }

  find(file: string, action: string | undefined, method: string): Route {
    const actions = file.endsWith('.php') ? this.#byResource.get(file.slice(0, -4)) : undefined;
    if (!actions) {
      const known = [...this.#byResource.keys()].map((r) => `${r}.php`).join(', ');
      throw new ParleyError('not_found', `There is no such resource. There are: ${known}.`);
    }
    const route = action === undefined ? undefined : actions.get(action);
    if (!route) throw new ParleyError('unknown_action', unknownAction(file, action, [...actions.keys()]));
    if (route.row.method !== method) throw new MethodRefusal(route.row);
    return route;
  }
}

function unknownAction(file: string, action: string | undefined, known: string[]): string {
  if (!action) return `Name an action: ${file}?action=… with one of ${known.join(', ')}.`;
  return `${file} has no such action. Did you mean ${closest(action.slice(0, 64), known)}? There are: ${known.join(', ')}.`;
}
