import fc from 'fast-check';

/** The kinds of things with an id. */
export const kinds = [
  'user',
  'chat',
  'message',
  'file',
  'token',
  'webhook',
  'hook',
  'delivery',
  'replay',
  'subscription',
  'event',
  'app',
  'invitation',
] as const;
export type Kind = (typeof kinds)[number];

/** A placeholder for an id that exists when the call is made. `pick` selects it. */
export class Known {
  readonly kind: Kind;
  readonly pick: number;

  constructor(kind: Kind, pick: number) {
    this.kind = kind;
    this.pick = pick;
  }

  [fc.toStringMethod](): string {
    return `<${this.kind} ${this.pick}>`;
  }
}

/** A file in a form. */
export class Bytes {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(name: string, bytes: Uint8Array<ArrayBuffer>) {
    this.name = name;
    this.bytes = bytes;
  }

  [fc.toStringMethod](): string {
    return `<file ${JSON.stringify(this.name)} of ${this.bytes.length} bytes>`;
  }
}

/** The value of a field, as it is drawn. */
export type Value =
  | Known
  | Bytes
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | { readonly [name: string]: Value };

/** The ids that the server has returned: the first of each kind, and the latest. */
export class Pool {
  readonly #ids: Map<Kind, number[]>;

  constructor(ids: ReadonlyMap<Kind, number[]> = new Map()) {
    this.#ids = new Map(ids);
  }

  /** Returns a pool with the same ids, which learns by itself. */
  copy(): Pool {
    return new Pool(this.#ids);
  }

  /** Adds every id in a response. */
  learn(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return;
    for (const [name, value] of Object.entries(answer)) {
      const kind = kindOf(name);
      if (kind && typeof value === 'number') this.add(kind, value);
      else this.learn(value);
    }
  }

  add(kind: Kind, id: number): void {
    const ids = this.#ids.get(kind) ?? [];
    if (ids.includes(id)) return;
    this.#ids.set(kind, [...ids, id]);
    if (ids.length >= maxKnown) this.#ids.set(kind, [...ids.toSpliced(firstKnown, 1), id]);
  }

  /** Returns the value to send. */
  resolve(value: Value): unknown {
    if (value instanceof Known) {
      const ids = this.#ids.get(value.kind) ?? [];
      return ids[value.pick % ids.length] ?? 1;
    }
    return Array.isArray(value) ? value.map((one) => this.resolve(one)) : value;
  }
}

/** The number of ids of a kind. The first of them stay for good. */
const maxKnown = 40;
const firstKnown = 10;

/** Fields with an id whose name is not that of its kind. */
const otherNames: Readonly<Record<string, Kind>> = {
  reply_to: 'message',
  participants: 'user',
  welcome_chat_id: 'chat',
  before_id: 'message',
  after_id: 'message',
  from_event_id: 'event',
  after: 'event',
  next: 'event',
};

/** Returns the kind of the id in a field. */
export function kindOf(name: string): Kind | undefined {
  return otherNames[name] ?? kinds.find((kind) => name === `${kind}_id`);
}
