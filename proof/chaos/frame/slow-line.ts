import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import type { Random } from '../random.ts';

/** How often bytes pass. */
const tickMs = 50;

/** How long a connection over it lasts, at most. */
const lastsMs = 8_000;

/**
 * A line to a node that lets answers through at a snail's pace and breaks off now and then, as a bad network does: whoever
 * writes to it is held up, and whoever reads falls further behind each time.
 */
export class SlowLine implements AsyncDisposable {
  readonly #bytesPerSecond: number;
  readonly #random: Random;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  /** Those whose answers are held up. */
  readonly #held = new Set<Socket>();
  #target = 0;
  #isFast = false;

  constructor(bytesPerSecond: number, random: Random) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#random = random;
    this.#server = createServer((client) => this.#carry(client));
  }

  async lay(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** The address that leads to a node from now on. */
  to(url: string): string {
    this.#target = Number(new URL(url).port);
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the line has not been laid');
    return `http://127.0.0.1:${address.port}`;
  }

  /** From now on nothing is held up or broken off. */
  mend(): void {
    this.#isFast = true;
    for (const node of this.#held) node.resume();
  }

  #carry(client: Socket): void {
    const node = dial(this.#target, '127.0.0.1');
    this.#open.add(client);
    const end = () => {
      clearTimeout(breaking);
      client.destroy();
      node.destroy();
      this.#open.delete(client);
    };
    const breaking = setTimeout(() => !this.#isFast && end(), lastsMs * (0.5 + this.#random() / 2));
    for (const socket of [client, node]) socket.on('error', end).on('close', end);
    client.pipe(node);
    node.on('data', (bytes) => {
      client.write(bytes);
      if (this.#isFast) return;
      node.pause();
      this.#held.add(node);
      const goOn = () => {
        this.#held.delete(node);
        node.resume();
      };
      setTimeout(goOn, Math.max(tickMs, (bytes.length / this.#bytesPerSecond) * 1_000));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
