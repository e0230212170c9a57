import { quietPort } from '../../server/test/support/quiet-port.ts';
import { type Child, startOnServerCore, untilHealthy } from '../bench/machine.ts';
import type { Held, Inside } from './inside.ts';

/** The server that is looked at. */
export class Subject implements AsyncDisposable {
  readonly pid: number;
  readonly #child: Child;
  readonly #inside: string;

  constructor(child: Child, insidePort: number) {
    this.pid = child.pid;
    this.#child = child;
    this.#inside = `http://127.0.0.1:${insidePort}`;
  }

  static async start(env: Readonly<Record<string, string>>, port: number, leapEveryMs: number): Promise<Subject> {
    const insidePort = await quietPort();
    const own = { PORT: String(port), SOAK_PORT: String(insidePort), SOAK_LEAP_MS: String(leapEveryMs) };
    const child = startOnServerCore(['proof/soak/server.ts'], { ...env, ...own });
    await untilHealthy(child, port);
    return new Subject(child, insidePort);
  }

  /** Throws with what it said where it has ended. */
  check(): void {
    this.#child.check();
  }

  async inside(): Promise<Inside> {
    return (await (await fetch(this.#inside)).json()) as Inside;
  }

  async held(): Promise<Held> {
    return (await (await fetch(`${this.#inside}/held`)).json()) as Held;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
  }
}
