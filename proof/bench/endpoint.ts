import { freePort } from '../../server/test/support/postgres.ts';
import { type Child, startBeside, untilAnswers } from './machine.ts';

export interface Seen {
  readonly count: number;
  readonly disordered: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** An endpoint in a process of its own, beside the server's core. */
export class Receiver implements AsyncDisposable {
  readonly url: string;
  readonly #child: Child;

  constructor(child: Child, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}/hook`;
  }

  async seen(): Promise<Seen> {
    return (await (await fetch(this.url)).json()) as Seen;
  }

  async forget(): Promise<void> {
    await fetch(this.url, { method: 'DELETE' });
  }

  async untilSeen(count: number): Promise<Seen> {
    for (const deadline = Date.now() + 120_000; Date.now() < deadline; await Bun.sleep(20)) {
      const seen = await this.seen();
      if (seen.count >= count) return seen;
    }
    throw new Error(`of ${count} deliveries only ${(await this.seen()).count} arrived`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#child[Symbol.asyncDispose]());
  }
}

export async function startReceiver(): Promise<Receiver> {
  const port = await freePort();
  const child = startBeside(['proof/bench/receiver.ts'], { PORT: String(port) });
  await untilAnswers(child, `http://127.0.0.1:${port}/`);
  return new Receiver(child, port);
}
