import fc from 'fast-check';

/** What can be named by an id. */
export const kinds = ['user', 'chat', 'message', 'file', 'token', 'webhook', 'delivery', 'replay', 'event'] as const;
export type Kind = (typeof kinds)[number];

/** Stands for the id of something that is there when the call is made: which one, is drawn. */
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

/** The ids that the server has told of: the first of each kind, and the latest. */
export class Pool {
  readonly #ids = new Map<Kind, number[]>();

  /** Notes every id in an answer. */
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
    if (ids.length >= mostKnown) this.#ids.set(kind, [...ids.toSpliced(firstKnown, 1), id]);
  }

  /** The value as it is sent. */
  resolve(value: Value): unknown {
    if (value instanceof Known) {
      const ids = this.#ids.get(value.kind) ?? [];
      return ids[value.pick % ids.length] ?? 1;
    }
    return Array.isArray(value) ? value.map((one) => this.resolve(one)) : value;
  }
}

/** So many ids of a kind are known; the first of them, which everybody begins with, for good. */
const mostKnown = 40;
const firstKnown = 10;

/** Fields that hold an id under another name than that of its kind. */
const otherNames: Readonly<Record<string, Kind>> = {
  reply_to: 'message',
  participants: 'user',
  before_id: 'message',
  after_id: 'message',
  from_event_id: 'event',
  after: 'event',
  next: 'event',
};

/** What a field of this name holds the id of. */
export function kindOf(name: string): Kind | undefined {
  return otherNames[name] ?? kinds.find((kind) => name === `${kind}_id`);
}
