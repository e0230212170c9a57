import type { Log } from './log.ts';

/** Says that something fails when it begins to, and that it goes on when it does again; not with every attempt in between. */
export class Trouble {
  readonly #log: Log;
  readonly #what: string;
  readonly #fields: Readonly<Record<string, unknown>>;
  #isThere = false;

  constructor(log: Log, what: string, fields: Readonly<Record<string, unknown>> = {}) {
    this.#log = log;
    this.#what = what;
    this.#fields = fields;
  }

  readonly failed = (cause: unknown): void => {
    if (!this.#isThere) this.#log.write('warn', this.#what, { ...this.#fields, cause });
    this.#isThere = true;
  };

  readonly went = (): void => {
    if (this.#isThere) this.#log.write('info', `over: ${this.#what}`, this.#fields);
    this.#isThere = false;
  };
}
