import type { Log } from './log.ts';

/** Logs the first of consecutive failures of retried work as `event`, and the success that ends them as `recovered`. */
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
    if (this.#isFailing) this.#log.write('info', 'recovered', { failure: this.#event, ...this.#fields });
    this.#isFailing = false;
  };
}
