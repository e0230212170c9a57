import type { Socket } from 'bun';

/** Connections that are made at once. */
const atOnce = 64;

/** Many readers of streams, over plain sockets: they only count. */
export class Listeners {
  readonly #sockets: Socket<undefined>[] = [];
  readonly #count: number;
  #mark = 'HTTP/1.1 200';
  /** How many have heard the mark. */
  #heard = 0;
  #all = Promise.withResolvers<void>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Opens one for each request, and answers when all have an answer. */
  static async open(port: number, requests: readonly string[]): Promise<Listeners> {
    const listeners = new Listeners(requests.length);
    for (let start = 0; start < requests.length; start += atOnce) {
      await Promise.all(requests.slice(start, start + atOnce).map((request) => listeners.#connect(port, request)));
    }
    await listeners.#untilAll();
    return listeners;
  }

  /** Answers when all have heard what is told with this mark in it. */
  async hear(mark: string, tell: () => Promise<unknown>): Promise<void> {
    this.#mark = mark;
    this.#heard = 0;
    this.#all = Promise.withResolvers();
    await tell();
    await this.#untilAll();
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #connect(port: number, request: string): Promise<void> {
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (opened) => void opened.write(request),
        data: (_, bytes) => {
          if (!bytes.includes(this.#mark)) return;
          this.#heard++;
          if (this.#heard === this.#count) this.#all.resolve();
        },
      },
    });
    this.#sockets.push(socket);
  }

  async #untilAll(): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`only ${this.#heard} of ${this.#count} listeners heard it`)),
      30_000,
    );
    try {
      await Promise.race([this.#all.promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
