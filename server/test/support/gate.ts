import { createServer, connect as dial, type Socket } from 'node:net';

type Direction = 'up' | 'down';

/** Stands before a server on loopback, passes bytes on, and holds them back or cuts connections when it is told to. */
export class Gate {
  readonly #target: number;
  readonly #server = createServer((client) => this.#accept(client));
  readonly #open = new Set<Socket>();
  #room: Record<Direction, number> = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  #alarm: string | undefined;
  #waiting: (() => void)[] = [];
  #isShut = false;
  /** Bytes that went through so far: up to the server, and down from it. */
  readonly passed: Record<Direction, number> = { up: 0, down: 0 };

  private constructor(target: number) {
    this.#target = target;
  }

  static async before(serverUrl: string): Promise<Gate> {
    const gate = new Gate(Number(new URL(serverUrl).port));
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the gate is not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Bytes are being held back. */
  get holds(): boolean {
    return this.#waiting.length > 0;
  }

  /** Lets so many more bytes through in a direction, and holds back what follows. */
  holdAfter(direction: Direction, bytes: number): void {
    this.#room[direction] = bytes;
  }

  /** Holds back every answer from the moment on when this stands in what goes up. */
  holdAnswersTo(text: string): void {
    this.#alarm = text;
  }

  /** Lets through what was held back, and everything from now on. */
  open(): void {
    this.#alarm = undefined;
    this.#room = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Ends all connections; what was held back is lost. */
  cut(): void {
    this.#waiting = [];
    for (const socket of this.#open) socket.destroy();
  }

  /** Ends all connections, and refuses new ones until `unshut`. */
  shut(): void {
    this.#isShut = true;
    this.cut();
  }

  unshut(): void {
    this.#isShut = false;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.cut();
  }

  #accept(client: Socket): void {
    if (this.#isShut) {
      client.destroy();
      return;
    }
    const server = dial(this.#target, '127.0.0.1');
    const end = () => {
      client.destroy();
      server.destroy();
      this.#open.delete(client);
    };
    this.#open.add(client);
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.on('data', (bytes: Buffer) => {
      if (this.#alarm !== undefined && bytes.includes(this.#alarm)) this.#room.down = 0;
      this.#pass('up', client, server, bytes);
    });
    server.on('data', (bytes: Buffer) => this.#pass('down', server, client, bytes));
  }

  #pass(direction: Direction, from: Socket, to: Socket, bytes: Buffer): void {
    const now = bytes.subarray(0, Math.min(bytes.length, this.#room[direction]));
    this.#room[direction] -= now.length;
    this.passed[direction] += now.length;
    if (now.length > 0) to.write(now);
    if (now.length === bytes.length) return;
    from.pause();
    this.#waiting.push(() => {
      this.#pass(direction, from, to, bytes.subarray(now.length));
      from.resume();
    });
  }
}
