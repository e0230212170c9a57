import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Arrival } from './evidence.ts';
import { type Mood, moods, type Request } from './moods.ts';
import type { Random } from './random.ts';

/** Where a webhook leads. It can go away and come back at the same address. */
export interface Endpoint extends AsyncDisposable {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  open(): Promise<void>;
  /** Nobody listens any more, and every connection breaks off. */
  close(): Promise<void>;
}

/** An endpoint that writes down whatever comes, in whatever mood it is. */
export class Receiver implements Endpoint {
  readonly arrivals: Arrival[] = [];
  mood: Mood = 'fine';
  /** What hangs is broken off after this time: by then the sender has given up. */
  hangMs = 20_000;
  readonly url: string;
  readonly #accepted = new Set<string>();
  readonly #port: number;
  readonly #random: Random;
  #server: Server | undefined;
  /** Counts what happens here, so that one can tell what came first. */
  #clock = 0;
  #strays = 0;

  constructor(port: number, random: Random) {
    this.#port = port;
    this.#random = random;
    this.url = `http://127.0.0.1:${port}/hook`;
  }

  /** Different events that were accepted. */
  get acceptedCount(): number {
    return this.#accepted.size;
  }

  get isOpen(): boolean {
    return this.#server !== undefined;
  }

  /** Requests to where only a redirect leads. */
  get strays(): number {
    return this.#strays;
  }

  open(): Promise<void> {
    const server = createServer((request, response) => this.#take(request, response));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
  }

  close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    return new Promise((resolve) => {
      if (!server) return resolve();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => {
      if (new URL(request.url ?? '', this.url).href !== this.url) {
        this.#strays++;
        response.writeHead(200).end();
        return;
      }
      const header = (name: string) => String(request.headers[name] ?? '');
      const arrival: Arrival = { header, body: Buffer.concat(parts), at: ++this.#clock, acceptedAt: undefined };
      this.arrivals.push(arrival);
      moods[this.mood](this.#answering(arrival, request, response), this.#random);
    });
  }

  #answering(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Request {
    const { socket } = request;
    return {
      elsewhere: new URL('/elsewhere', this.url).href,
      hangMs: this.hangMs,
      response,
      socket,
      accept: () => {
        // Nobody would see the answer: for the sender this one has not been accepted.
        if (socket.destroyed) return;
        arrival.acceptedAt = ++this.#clock;
        this.#accepted.add(arrival.header('x-webhook-id'));
        response.writeHead(200);
        return response;
      },
    };
  }
}
