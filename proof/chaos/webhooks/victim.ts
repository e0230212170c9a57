import { type Child, startOnServerCore, untilHealthy } from '../../bench/machine.ts';

/** A server that is killed, and started again on the same data and the same port. */
export class Victim implements AsyncDisposable {
  readonly url: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #port: number;
  #child: Child | undefined;
  #kills = 0;

  constructor(env: Readonly<Record<string, string>>, port: number) {
    this.#env = { ...env, PORT: String(port) };
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  get kills(): number {
    return this.#kills;
  }

  start(): void {
    this.#child = startOnServerCore(['server/main.ts'], this.#env);
  }

  async untilHealthy(): Promise<void> {
    if (this.#child) await untilHealthy(this.#child, this.#port);
  }

  /** At once and without mercy. Throws where it had ended by itself. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.check();
    this.#kills++;
    await child.kill();
    this.#child = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.[Symbol.asyncDispose]();
  }
}
