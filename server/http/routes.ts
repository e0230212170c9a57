import {
  type Contract,
  fileField,
  invalidField,
  isFile,
  listOperations,
  type NamedOperation,
  ParleyError,
} from '@parley/contract';
import { closest } from 'fastest-levenshtein';
import { parseFields } from './form.ts';
import { inputDecoder, type RawInput } from './input.ts';

export interface Route {
  readonly row: NamedOperation;
  readonly decode: (raw: RawInput) => Record<string, unknown>;
  /** The field that takes a file, if there is one. */
  readonly fileField: string | undefined;
}

/** A refusal because of the HTTP method, with the one that would do. */
export class MethodRefusal extends ParleyError {
  readonly allow: string;

  constructor(row: NamedOperation) {
    super('method_not_allowed', `${row.resource}.php?action=${row.action} takes ${row.method}.`);
    this.allow = row.method;
  }
}

/** What an address asks for: a row, and the fields in its query beside the action. */
export interface Target {
  readonly route: Route;
  readonly query: readonly (readonly [string, string])[];
}

/** Finds the row for an address and a method, or says what is wrong with them. */
export class Routes {
  readonly #byResource = new Map<string, Map<string, Route>>();
  /** Addresses as they are nearly always written, so that these need not be taken apart. */
  readonly #byAddress = new Map<string, Target>();

  constructor(contract: Contract) {
    for (const row of listOperations(contract)) {
      const actions = this.#byResource.get(row.resource) ?? new Map<string, Route>();
      const route = { row, decode: inputDecoder(row), fileField: fileField(row.input) };
      actions.set(row.action, route);
      this.#byResource.set(row.resource, actions);
      this.#byAddress.set(`${row.resource}.php?action=${row.action}`, { route, query: [] });
    }
  }

  /** `address` is what follows `/api/`. */
  find(address: string, method: string): Target {
    const target = this.#byAddress.get(address) ?? this.#parse(address);
    const { row } = target.route;
    // What a file is can be asked without fetching it.
    const isAllowed = row.method === method || (method === 'HEAD' && isFile(row.output));
    if (!isAllowed) throw new MethodRefusal(row);
    return target;
  }

  #parse(address: string): Target {
    const [file = '', query = ''] = split(address, '?');
    const actions = this.#byResource.get(file.slice(0, -'.php'.length));
    if (!actions) {
      const known = [...this.#byResource.keys()].map((r) => `${r}.php`).join(', ');
      throw new ParleyError('not_found', `There is no such resource. There are: ${known}.`);
    }
    const fields = parseFields(query);
    const [action, ...others] = fields.filter(([name]) => name === 'action').map(([, value]) => value);
    if (others.length > 0) throw invalidField('action', 'is given more than once');
    const route = action === undefined ? undefined : actions.get(action);
    if (!route) throw new ParleyError('unknown_action', unknownAction(file, action, [...actions.keys()]));
    return { route, query: fields.filter(([name]) => name !== 'action') };
  }
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

function unknownAction(file: string, action: string | undefined, known: string[]): string {
  if (!action) return `Name an action: ${file}?action=… with one of ${known.join(', ')}.`;
  return `${file} has no such action. Did you mean ${closest(action.slice(0, 64), known)}? There are: ${known.join(', ')}.`;
}
