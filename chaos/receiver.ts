import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Arrival } from './evidence.ts';
import type { Random } from './random.ts';

/** How an endpoint treats what comes to it. */
export type Mood = 'fine' | 'refusing' | 'resetting' | 'hanging' | 'slow' | 'wavering';

/** What it can do with a request that has come in full. */
interface Request {
  accept(): void;
  refuse(): void;
  /** Breaks the connection off without an answer. */
  cut(): void;
}

const moods: Readonly<Record<Mood, (request: Request, random: Random) => void>> = {
  fine: (request) => request.accept(),
  refusing: (request) => request.refuse(),
  resetting: (request) => request.cut(),
  hanging: () => {},
  slow: (request, random) => void setTimeout(() => request.accept(), 50 + 1_500 * random()),
  wavering: (request, random) => (random() < 0.3 ? request.refuse() : request.accept()),
};

/** An endpoint that writes down whatever comes, in whatever mood it is. */
export class Receiver implements AsyncDisposable {
  readonly arrivals: Arrival[] = [];
  mood: Mood = 'fine';
  readonly url: string;
  readonly #accepted = new Set<string>();
  readonly #port: number;
  readonly #random: Random;
  #server: Server | undefined;
  /** Counts what happens here, so that one can tell what came first. */
  #clock = 0;

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

  open(): Promise<void> {
    const server = createServer((request, response) => this.#take(request, response));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
  }

  /** Nobody listens any more, and every connection breaks off. */
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
      const header = (name: string) => String(request.headers[name] ?? '');
      const arrival: Arrival = { header, body: Buffer.concat(parts), at: ++this.#clock, acceptedAt: undefined };
      this.arrivals.push(arrival);
      moods[this.mood](this.#answering(arrival, request, response), this.#random);
    });
  }

  #answering(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Request {
    return {
      accept: () => {
        // Nobody would see the answer: for the sender this one has not been accepted.
        if (request.socket.destroyed) return;
        arrival.acceptedAt = ++this.#clock;
        this.#accepted.add(arrival.header('x-webhook-id'));
        response.writeHead(200).end('thank you');
      },
      refuse: () => void response.writeHead(500).end('not now'),
      cut: () => void request.socket.destroy(),
    };
  }
}
