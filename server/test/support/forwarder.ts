import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A TCP proxy on loopback that cuts connections on demand. */
export class Forwarder {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #target: number;
  #requestCuts = 0;
  #answerCuts = 0;
  #beforeAnswerCut = 0;
  /** The bytes of all responses so far. */
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

  /** Drops the next requests. */
  cutRequests(times: number): void {
    this.#requestCuts = times;
  }

  /** Cuts off the next responses, each after more than `afterBytes`. */
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
