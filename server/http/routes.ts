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
import { HttpError } from './responses.ts';

export interface Route {
  readonly row: NamedOperation;
  readonly decode: (raw: RawInput) => Record<string, unknown>;
  /** The field that takes a file. */
  readonly fileField: string | undefined;
}

/** The operation of a URL, and the other fields of its query. */
export interface Target {
  readonly route: Route;
  readonly query: readonly (readonly [string, string])[];
}

/** Finds the operation for a URL and a method. Throws with a hint if there is none. */
export class Routes {
  readonly #byResource = new Map<string, Map<string, Route>>();
  /** The usual spelling of URLs, which then need no parsing. */
  readonly #byPath = new Map<string, Target>();

  constructor(contract: Contract) {
    for (const row of listOperations(contract)) {
      const actions = this.#byResource.get(row.resource) ?? new Map<string, Route>();
      const route = { row, decode: inputDecoder(row), fileField: fileField(row.input) };
      actions.set(row.action, route);
      this.#byResource.set(row.resource, actions);
      this.#byPath.set(`${row.resource}.php?action=${row.action}`, { route, query: [] });
    }
  }

  /** `path` is the part of the URL after `/api/`. */
  find(path: string, method: string): Target {
    const target = this.#byPath.get(path) ?? this.#parse(path);
    const { row } = target.route;
    // HEAD gets the headers of a file.
    const isAllowed = row.method === method || (method === 'HEAD' && isFile(row.output));
    if (!isAllowed) {
      const message = `${row.resource}.php?action=${row.action} takes ${row.method}.`;
      throw new HttpError('method_not_allowed', message, { allow: row.method });
    }
    return target;
  }

  #parse(path: string): Target {
    const [file = '', query = ''] = split(path, '?');
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
