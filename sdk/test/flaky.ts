import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of one request: the connection breaks, before or after the server did its work; or another answers; or it is
 * held back until it is released.
 */
export type Fault =
  | 'none'
  | 'drop'
  | 'lose the answer'
  | 'hang'
  | 'hold'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** An error as Parley writes it. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Fault => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ success: false, error: { code, message: `a ${code}`, details: [], request_id: 'r-1' } }),
});

/** Stands between a client and a real server; each request meets the next fault, and once they are spent, none. */
export class FlakyProxy {
  readonly seen: Seen[] = [];
  readonly #faults: Fault[];
  readonly #target: string;
  readonly #released = Promise.withResolvers<void>();
  /** True once a request is held back. */
  holds = false;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(target: string, faults: readonly Fault[]) {
    this.#target = target;
    this.#faults = [...faults];
  }

  release(): void {
    this.#released.resolve();
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    this.seen.push({ method, url, key: headers['idempotency-key'] as string | undefined });
    const fault = this.#faults.shift();
    if (fault === 'hang') return;
    if (fault === 'drop') return void request.socket.destroy();
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body);
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Uint8Array>));
    this.holds = fault === 'hold';
    if (this.holds) await this.#released.promise;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await fetch(`${this.#target}${url}`, {
      method: method ?? '',
      headers: headers as Record<string, string>,
      ...(method === 'POST' && { body }),
      signal: gone.signal,
    });
    if (fault === 'lose the answer') {
      await answer.arrayBuffer();
      return void request.socket.destroy();
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    try {
      for await (const piece of answer.body ?? []) response.write(piece);
      response.end();
    } catch {
      response.destroy();
    }
  }
}
