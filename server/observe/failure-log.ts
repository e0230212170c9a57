import type { Log } from './log.ts';

/** Logs the first failure of something that is tried again and again, and the success that ends it; nothing in between. */
export class FailureLog {
  readonly #log: Log;
  readonly #event: string;
  readonly #fields: Readonly<Record<string, unknown>>;
  #isFailing = false;

  constructor(log: Log, event: string, fields: Readonly<Record<string, unknown>> = {}) {
    this.#log = log;
    this.#event = event;
    this.#fields = fields;
  }

  readonly failed = (cause: unknown): void => {
    if (!this.#isFailing) this.#log.write('warn', this.#event, { ...this.#fields, cause });
    this.#isFailing = true;
  };

  readonly succeeded = (): void => {
    if (this.#isFailing) this.#log.write('info', `over: ${this.#event}`, this.#fields);
    this.#isFailing = false;
  };
}
