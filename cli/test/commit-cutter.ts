import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** When connections are cut: before a COMMIT gets to the server, or before its answer gets back. */
export type Cut = 'before' | 'after';

/** Stands before a PostgreSQL on loopback, passes everything on, and cuts the connection of the first COMMIT of a new schema. */
export class CommitCutter {
  readonly #server: Server;
  readonly #cut: Cut;
  #isGoneThen: boolean;
  readonly #target: URL;
  #hasCut = false;

  private constructor(target: string, cut: Cut, isGoneThen: boolean) {
    this.#target = new URL(target);
    this.#cut = cut;
    this.#isGoneThen = isGoneThen;
    this.#server = createServer((client) => (this.#isGone ? client.destroy() : this.#forward(client)));
  }

  /** `isGoneThen`: from then on nobody gets through to the server any more. */
  static async before(target: string, cut: Cut, isGoneThen = false): Promise<CommitCutter> {
    const cutter = new CommitCutter(target, cut, isGoneThen);
    await new Promise<void>((resolve) => cutter.#server.listen(0, '127.0.0.1', resolve));
    return cutter;
  }

  /** The same database as it is reached through here. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the cutter is not listening');
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${address.port}`;
    return url.href;
  }

  get #isGone(): boolean {
    return this.#hasCut && this.#isGoneThen;
  }

  /** The server is back. */
  letThrough(): void {
    this.#isGoneThen = false;
  }

  get hasCut(): boolean {
    return this.#hasCut;
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }

  #forward(client: Socket): void {
    const server = dial(Number(this.#target.port), '127.0.0.1');
    const end = () => {
      client.destroy();
      server.destroy();
    };
    let [hasWritten, isAwaited] = [false, false];
    client.on('data', (bytes) => {
      hasWritten ||= bytes.includes('CREATE TABLE');
      const isFirst = hasWritten && !this.#hasCut && bytes.includes('COMMIT');
      if (isFirst) this.#hasCut = true;
      if (isFirst && this.#cut === 'before') return end();
      isAwaited ||= isFirst;
      server.write(bytes);
    });
    server.on('data', (bytes) => (isAwaited ? end() : client.write(bytes)));
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
  }
}
