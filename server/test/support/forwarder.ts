import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** Stands before a server on loopback, passes everything on, and cuts connections when it is told to. */
export class Forwarder {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #target: number;
  #requestCuts = 0;
  #answerCuts = 0;
  #beforeAnswerCut = 0;
  /** Bytes that the server's answers had so far. */
  answered = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#forward(client));
  }

  static async before(target: number): Promise<Forwarder> {
    const forwarder = new Forwarder(target);
    await new Promise<void>((resolve) => forwarder.#server.listen(0, '127.0.0.1', resolve));
    return forwarder;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the forwarder is not listening');
    return address.port;
  }

  /** So many requests from now on do not get through. */
  cutRequests(times: number): void {
    this.#requestCuts = times;
  }

  /** So many answers from now on are cut off, each when it has brought more than these bytes. */
  cutAnswers(times: number, afterBytes = 0): void {
    this.#answerCuts = times;
    this.#beforeAnswerCut = afterBytes;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #forward(client: Socket): void {
    const server = dial(this.#target, '127.0.0.1');
    let sinceRequest = 0;
    const end = () => {
      client.destroy();
      server.destroy();
      this.#open.delete(client);
    };
    this.#open.add(client);
    client.on('data', () => {
      sinceRequest = 0;
      if (this.#requestCuts === 0) return;
      this.#requestCuts--;
      end();
    });
    server.on('data', (bytes) => {
      sinceRequest += bytes.length;
      this.answered += bytes.length;
      if (this.#answerCuts === 0 || sinceRequest <= this.#beforeAnswerCut) return;
      this.#answerCuts--;
      end();
    });
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.pipe(server);
    server.pipe(client);
  }
}
