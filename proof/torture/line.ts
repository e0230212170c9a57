import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A proxy between browsers and a server. It keeps its port while the server restarts, and can be cut. */
export class Line implements AsyncDisposable {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #target: number;
  #isCut = false;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the line is not open');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Breaks every connection, and refuses new ones until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#open) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  #connect(client: Socket): void {
    if (this.#isCut) {
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
    client.pipe(server);
    server.pipe(client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
