import { afterAll, beforeAll } from 'bun:test';
import { hangMs } from './eventually.ts';

/** A request to an endpoint. */
export interface Arrival {
  readonly headers: Headers;
  /** The exact body. */
  readonly bytes: Buffer;
  readonly body: string;
  readonly eventId: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The attempt number of the sender. */
  readonly attempt: number;
}

/** The response of an endpoint: a status, or more; or none while the receiver lives. */
export type Reply =
  | number
  | 'hang'
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly delayMs?: number;
      /** The response waits for this promise. */
      readonly after?: Promise<unknown>;
    };

/** A URL of a receiver, with its requests in the order of arrival. */
export class Endpoint {
  readonly url: string;
  readonly arrivals: Arrival[] = [];
  /** Returns the response to each request. It may be replaced at any time. */
  reply: (arrival: Arrival) => Reply;
  readonly #waiting = new Set<() => void>();

  constructor(url: string, reply: (arrival: Arrival) => Reply) {
    this.url = url;
    this.reply = reply;
  }

  take(headers: Headers, bytes: Buffer): Reply {
    const body = bytes.toString('utf8');
    const { event, data } = JSON.parse(body) as Pick<Arrival, 'event' | 'data'>;
    const eventId = Number(headers.get('x-webhook-id'));
    const attempt = Number(headers.get('x-webhook-attempt'));
    const arrival = { headers, bytes, body, eventId, event, data, attempt };
    this.arrivals.push(arrival);
    for (const look of this.#waiting) look();
    return this.reply(arrival);
  }

  /** Resolves with the first `count` requests. */
  async arrived(count: number): Promise<readonly Arrival[]> {
    const enough = Promise.withResolvers<void>();
    const look = () => this.arrivals.length >= count && enough.resolve();
    const hung = () => enough.reject(new Error(`waited in vain: ${this.arrivals.length} of ${count} requests`));
    const late = setTimeout(hung, hangMs);
    this.#waiting.add(look);
    look();
    await enough.promise.finally(() => {
      clearTimeout(late);
      this.#waiting.delete(look);
    });
    return this.arrivals.slice(0, count);
  }

  /** The texts of the messages, in the order of arrival. */
  get contents(): unknown[] {
    return this.arrivals.filter(({ event }) => event === 'new_message').map(({ data }) => data.content);
  }

  get eventIds(): number[] {
    return this.arrivals.map(({ eventId }) => eventId);
  }
}

/** Holds requests until they are released, and counts those that wait. */
export class Held {
  now = 0;
  readonly #released = Promise.withResolvers<void>();

  /** The response of an endpoint that is held. */
  reply(status = 200): Reply {
    this.now++;
    const after = this.#released.promise.then(() => {
      this.now--;
    });
    return { status, after };
  }

  release(): void {
    this.#released.resolve();
  }
}

/** Receives webhooks on loopback, at any number of endpoints. */
export class Receiver {
  readonly #server: Bun.Server<undefined>;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #end = Promise.withResolvers<void>();

  constructor() {
    this.#server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: (r) => this.#serve(r) });
  }

  /** Creates an endpoint. It responds 200 by default. */
  endpoint(reply: Reply | ((arrival: Arrival) => Reply) = 200): Endpoint {
    const path = `/${this.#endpoints.size + 1}`;
    const decide = typeof reply === 'function' ? reply : () => reply;
    const endpoint = new Endpoint(`http://127.0.0.1:${this.#server.port}${path}`, decide);
    this.#endpoints.set(path, endpoint);
    return endpoint;
  }

  async #serve(request: Request): Promise<Response> {
    const endpoint = this.#endpoints.get(new URL(request.url).pathname);
    if (!endpoint) return new Response('nobody here', { status: 404 });
    const reply = endpoint.take(request.headers, Buffer.from(await request.arrayBuffer()));
    if (reply === 'hang') await this.#end.promise;
    if (typeof reply !== 'object') return new Response('', { status: typeof reply === 'number' ? reply : 503 });
    const { status = 200, headers = {}, body = '', delayMs, after } = reply;
    if (delayMs !== undefined) await Bun.sleep(delayMs);
    if (after) await Promise.race([after, this.#end.promise]);
    return new Response(body, { status, headers });
  }

  async stop(): Promise<void> {
    this.#end.resolve();
    await this.#server.stop(true);
  }
}

/** Starts a receiver for all tests of a suite. */
export function receiverFor(): () => Receiver {
  let receiver: Receiver | undefined;
  beforeAll(() => {
    receiver = new Receiver();
  });
  afterAll(() => receiver?.stop());
  return () => {
    if (!receiver) throw new Error('the receiver has not been started yet');
    return receiver;
  };
}
