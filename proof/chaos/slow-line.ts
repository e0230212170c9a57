import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import type { Random } from '../harness/random.ts';

/** The shortest delay between two pieces. */
const tickMs = 50;

/** The longest that a connection lasts. */
const maxConnectionMs = 8_000;

/** A proxy to a server that passes responses on slowly and breaks now and then, as a bad network does. */
export class SlowLine implements AsyncDisposable {
  readonly #bytesPerSecond: number;
  readonly #random: Random;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** Connections whose responses are delayed. */
  readonly #held = new Set<Socket>();
  #target = 0;
  #isFast = false;

  constructor(bytesPerSecond: number, random: Random) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#random = random;
    this.#server = createServer((client) => this.#connect(client));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Returns the URL that leads to a server from now on. */
  to(url: string): string {
    this.#target = Number(new URL(url).port);
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the line is not open');
    return `http://127.0.0.1:${address.port}`;
  }

  /** From now on it neither delays nor breaks anything. */
  mend(): void {
    this.#isFast = true;
    for (const node of this.#held) node.resume();
  }

  #connect(client: Socket): void {
    const node = dial(this.#target, '127.0.0.1');
    this.#open.add(client);
    const end = () => {
      clearTimeout(breaking);
      client.destroy();
      node.destroy();
      this.#open.delete(client);
    };
    const breaking = setTimeout(() => !this.#isFast && end(), maxConnectionMs * (0.5 + this.#random() / 2));
    for (const socket of [client, node]) socket.on('error', end).on('close', end);
    client.pipe(node);
    node.on('data', (bytes) => {
      client.write(bytes);
      if (this.#isFast) return;
      node.pause();
      this.#held.add(node);
      const resume = () => {
        this.#held.delete(node);
        node.resume();
      };
      setTimeout(resume, Math.max(tickMs, (bytes.length / this.#bytesPerSecond) * 1_000));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
