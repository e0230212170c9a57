import type { Socket } from 'bun';
import { hangMs } from '../../harness/wait.ts';

/** Concurrent connection attempts. */
const concurrency = 64;

/** Many readers of streams over plain sockets, which only count. */
export class Listeners {
  readonly #sockets: Socket<undefined>[] = [];
  readonly #count: number;
  #mark = 'HTTP/1.1 200';
  #heard = 0;
  #all = Promise.withResolvers<void>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Opens a connection for each request. Returns once all have a response. */
  static async open(port: number, requests: readonly string[]): Promise<Listeners> {
    const listeners = new Listeners(requests.length);
    for (let start = 0; start < requests.length; start += concurrency) {
      await Promise.all(requests.slice(start, start + concurrency).map((request) => listeners.#connect(port, request)));
    }
    await listeners.#untilAll();
    return listeners;
  }

  /** Returns once all have received something with this mark in it. */
  async hear(mark: string, send: () => Promise<unknown>): Promise<void> {
    this.#mark = mark;
    this.#heard = 0;
    this.#all = Promise.withResolvers();
    await send();
    await this.#untilAll();
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #connect(port: number, request: string): Promise<void> {
    const data = (_: unknown, bytes: Buffer) => {
      if (bytes.includes(this.#mark) && ++this.#heard === this.#count) this.#all.resolve();
    };
    const open = (socket: Socket<undefined>) => void socket.write(request);
    this.#sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open, data } }));
  }

  async #untilAll(): Promise<void> {
    const complain = () => this.#all.reject(new Error(`only ${this.#heard} of ${this.#count} listeners heard it`));
    const timer = setTimeout(complain, hangMs);
    await this.#all.promise.finally(() => clearTimeout(timer));
  }
}
