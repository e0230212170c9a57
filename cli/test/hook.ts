import { createHmac } from 'node:crypto';
import { eventually } from '../../sdk/test/eventually.ts';

export interface Received {
  readonly id: string;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

/** An endpoint such as a developer would write one, which remembers what it got. */
export class Hook {
  readonly received: Received[] = [];
  /** Answers with these first, and 204 after them. */
  readonly answers: Response[] = [];
  readonly #server;

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const id = request.headers.get('x-webhook-id') ?? '';
        this.received.push({ id, body: await request.bytes(), headers: request.headers });
        return this.answers.shift() ?? new Response(null, { status: 204 });
      },
    });
  }

  get url(): string {
    return `http://localhost:${this.#server.port}/hook`;
  }

  get contents(): string[] {
    return this.received.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).data.content);
  }

  async gets(count: number): Promise<Received[]> {
    return eventually(`${count} deliveries`, () => this.received.length >= count && this.received);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.stop(true);
  }
}

/** Both signatures of what was received, made by hand as the documentation tells a receiver to. */
export function signaturesOf({ body, headers }: Received, secret: string) {
  const stamp = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.`;
  return {
    'x-webhook-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-signature': `v1,${createHmac('sha256', secret).update(stamp).update(body).digest('base64')}`,
  };
}
