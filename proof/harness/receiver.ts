import type { Socket, TCPSocketListener } from 'bun';
import type { Behaviour } from './behaviours.ts';
import type { Arrival } from './evidence.ts';
import { between, pick, type Random } from './random.ts';
import { flush } from './socket.ts';

/** The target of a webhook. It can close, and open again at the same URL. */
export interface Endpoint extends AsyncDisposable {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  open(): Promise<void>;
  /** Stops listening, and breaks every connection. */
  close(): Promise<void>;
}

/** A request as it arrived. */
export interface Received extends Arrival {
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAtMs: number;
}

/** Both are called before the response is written. */
export interface ReceiverHooks {
  readonly onArrival?: (arrival: Received) => void;
  readonly onAccept?: (arrival: Received) => void;
}

interface Connection {
  unread: Buffer;
  readonly unsent: Uint8Array[];
  isClosed: boolean;
}

const noRandom: Random = () => 0;

const garbage = [
  'HTTP/9.9 two hundred\r\n\r\n',
  '\u0000\u0001\u0002\u0003 not HTTP at all',
  'HTTP/1.1 99999 No\r\n\r\n',
] as const;

const dripMs = 200;
const flood = Buffer.alloc(4 * 2 ** 20, 'flood ');

/**
 * An endpoint in this process that records what arrives and responds as its behaviour says. It speaks HTTP over plain
 * sockets: only so can it break the protocol, and it is fast enough to be measured against.
 */
export class Receiver implements Endpoint {
  readonly arrivals: Received[] = [];
  behaviour: Behaviour = {};
  /** A connection that hangs is closed after this time: the sender has given up by then. */
  hangMs = 20_000;
  /** Requests to the target of a redirect. */
  followedRedirects = 0;
  readonly #accepted = new Set<string>();
  readonly #random: Random;
  readonly #hooks: ReceiverHooks;
  #port: number;
  #listener: TCPSocketListener<Connection> | undefined;
  /** Counts what happens here, which gives the order of arrivals and acceptances. */
  #clock = 0;

  /** Port 0 takes any free port when it opens first. */
  constructor(port = 0, random = noRandom, hooks: ReceiverHooks = {}) {
    this.#port = port;
    this.#random = random;
    this.#hooks = hooks;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** The number of different events that were accepted. */
  get acceptedCount(): number {
    return this.#accepted.size;
  }

  async open(): Promise<void> {
    this.#listener = Bun.listen<Connection>({
      hostname: '127.0.0.1',
      port: this.#port,
      data: undefined as never,
      socket: {
        open: (socket) => {
          socket.data = { unread: Buffer.alloc(0), unsent: [], isClosed: false };
        },
        data: (socket, bytes) => this.#read(socket, bytes),
        drain: (socket) => void flush(socket, socket.data.unsent),
        close: (socket) => {
          socket.data.isClosed = true;
        },
        error: () => {},
      },
    });
    this.#port = this.#listener.port;
  }

  async close(): Promise<void> {
    this.#listener?.stop(true);
    this.#listener = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #read(socket: Socket<Connection>, bytes: Buffer): void {
    const connection = socket.data;
    connection.unread = Buffer.concat([connection.unread, bytes]);
    for (let request = takeRequest(connection); request; request = takeRequest(connection)) {
      const { path, headers, body } = request;
      if (path !== '/hook') {
        this.followedRedirects++;
        respond(socket, 200, '');
        continue;
      }
      const header = (name: string) => headers[name] ?? '';
      const at = ++this.#clock;
      const arrival = { header, headers, body, at, acceptedAt: undefined, receivedAtMs: performance.now() };
      this.arrivals.push(arrival);
      this.#hooks.onArrival?.(arrival);
      this.#respond(socket, arrival, this.behaviour);
    }
  }

  #respond(socket: Socket<Connection>, arrival: Received, behaviour: Behaviour): void {
    const { delayMs, refused = 0, redirects, body, instead } = behaviour;
    if (delayMs) {
      const { delayMs: _, ...then } = behaviour;
      setTimeout(() => this.#respond(socket, arrival, then), between(this.#random, delayMs));
    } else if (instead === 'reset') socket.terminate();
    else if (instead === 'hang') setTimeout(() => socket.terminate(), this.hangMs).unref();
    else if (instead === 'garbage') {
      send(socket, pick(this.#random, garbage));
      socket.end();
    } else if (redirects) {
      respond(socket, pick(this.#random, redirects), '', `Location: ${new URL('/elsewhere', this.url).href}\r\n`);
    } else if (refused > 0 && this.#random() < refused) respond(socket, 500, 'not now');
    // Without a connection the sender does not learn that the request was accepted.
    else if (!socket.data.isClosed) {
      arrival.acceptedAt = ++this.#clock;
      this.#accepted.add(arrival.header('x-webhook-id'));
      this.#hooks.onAccept?.(arrival);
      if (body === 'drip') drip(socket);
      else respond(socket, 200, body === 'flood' ? flood : 'thank you');
    }
  }
}

function takeRequest(connection: Connection) {
  const { unread } = connection;
  const end = unread.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...lines] = unread.toString('latin1', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const one of lines) {
    const colon = one.indexOf(':');
    headers[one.slice(0, colon).toLowerCase()] = one.slice(colon + 1).trim();
  }
  const size = end + 4 + Number(headers['content-length'] ?? 0);
  if (unread.length < size) return undefined;
  connection.unread = unread.subarray(size);
  return { path: line.split(' ')[1], headers, body: unread.subarray(end + 4, size) };
}

function respond(socket: Socket<Connection>, status: number, body: string | Uint8Array, headers = ''): void {
  send(socket, `HTTP/1.1 ${status} X\r\n${headers}Content-Length: ${body.length}\r\n\r\n`, body);
}

function drip(socket: Socket<Connection>): void {
  send(socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  const timer = setInterval(() => {
    if (socket.data.isClosed) clearInterval(timer);
    else send(socket, '1\r\n.\r\n');
  }, dripMs);
}

function send(socket: Socket<Connection>, ...parts: (string | Uint8Array)[]): void {
  socket.data.unsent.push(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  flush(socket, socket.data.unsent);
}
