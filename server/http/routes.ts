import {
  type Contract,
  fileField,
  invalidField,
  isFile,
  listOperations,
  type NamedOperation,
  ParleyError,
} from '@parley/contract';
import { nearest } from '../lib/nearest.ts';
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

/** How a URL names an operation. Errors use the form of the request. */
interface Form {
  resource(name: string): string;
  action(resource: string, action: string): string;
}

/** `messages/send_message` */
const pathForm: Form = {
  resource: (name) => name,
  action: (resource, action) => `${resource}/${action}`,
};

/** `messages.php?action=send_message`, the form of the specification. */
const queryForm: Form = {
  resource: (name) => `${name}.php`,
  action: (resource, action) => `${resource}.php?action=${action}`,
};

type Actions = ReadonlyMap<string, Route>;

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
      for (const form of [pathForm, queryForm])
        this.#byPath.set(form.action(row.resource, row.action), { route, query: [] });
    }
  }

  /** `path` is the part of the URL after `/api/`. */
  find(path: string, method: string): Target {
    const target = this.#byPath.get(path) ?? this.#parse(path);
    const { row } = target.route;
    // HEAD gets the headers of a file.
    const methods: readonly string[] = isFile(row.output) ? [row.method, 'HEAD'] : [row.method];
    if (!methods.includes(method)) {
      const url = formOf(path).action(row.resource, row.action);
      throw new HttpError('method_not_allowed', `${url} takes ${row.method}.`, { allow: methods.join(', ') });
    }
    return target;
  }

  #parse(path: string): Target {
    const [file, query] = split(path, '?');
    if (formOf(path) === pathForm) {
      const [resource, action] = split(file, '/');
      const fields = parseFields(query);
      this.#requireOneForm(resource, action, fields);
      const route = findAction(pathForm, resource, action, this.#actions(pathForm, resource));
      return { route, query: fields };
    }
    const resource = file.slice(0, -'.php'.length);
    const actions = this.#actions(queryForm, resource);
    const fields = parseFields(query);
    const [action = '', ...others] = fields.filter(([name]) => name === 'action').map(([, value]) => value);
    if (others.length > 0) throw invalidField('action', 'is given more than once');
    const route = findAction(queryForm, resource, action, actions);
    return { route, query: fields.filter(([name]) => name !== 'action') };
  }

  /** Throws with the right URL if a URL mixes the two forms and its action is known. */
  #requireOneForm(resource: string, action: string, fields: Target['query']): void {
    const name = resource.replace(/\.php$/, '');
    const asked = fields.find(([field]) => field === 'action')?.[1];
    if (name === resource && asked === undefined) return;
    // The path names the action, unless it names none.
    const meant = action === '' ? (asked ?? '') : action;
    if (!this.#byResource.get(name)?.has(meant)) return;
    const forms = [pathForm, queryForm].map((form) => form.action(name, meant)).join(' or ');
    if (name !== resource) throw new ParleyError('not_found', `There is no such resource. Use ${forms}.`);
    if (action === '') throw new ParleyError('unknown_action', `The path names no action. Use ${forms}.`);
    throw invalidField('action', `is not a field of this operation; use ${forms}`);
  }

  #actions(form: Form, resource: string): Actions {
    const actions = this.#byResource.get(resource);
    if (actions) return actions;
    const known = [...this.#byResource.keys()];
    const list = known.map(form.resource).join(', ');
    const hint = suggestion(resource, known, form.resource);
    throw new ParleyError('not_found', `There is no such resource.${hint} There are: ${list}.`);
  }
}

function findAction(form: Form, resource: string, action: string, actions: Actions): Route {
  const route = actions.get(action);
  if (route) return route;
  const known = [...actions.keys()];
  const list = known.join(', ');
  if (action === '')
    throw new ParleyError('unknown_action', `Name an action: ${form.action(resource, '…')} with one of ${list}.`);
  const hint = suggestion(action, known);
  throw new ParleyError('unknown_action', `${form.resource(resource)} has no such action.${hint} There are: ${list}.`);
}

function suggestion(given: string, known: readonly string[], inWords = (name: string) => name): string {
  const near = nearest(given, known);
  return near === undefined ? '' : ` Did you mean ${inWords(near)}?`;
}

function formOf(path: string): Form {
  const [file] = split(path, '?');
  return file.endsWith('.php') && !file.includes('/') ? queryForm : pathForm;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
