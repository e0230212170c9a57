import type { Arrival } from './evidence.ts';
import { Assistant } from './frame/assistant.ts';
import type { Endpoint } from './receiver.ts';

/** What the process of an endpoint says: that a request has come, and before it answers, that it is going to accept it. */
export type Noted =
  | { readonly arrived: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly accepted: number };

/** An endpoint in a process of its own, which can be killed: what it has written down by then is known. */
export class ReceiverProcess implements Endpoint {
  readonly arrivals: Arrival[] = [];
  readonly url: string;
  readonly #port: number;
  #process: Assistant<Noted | 'listening'> | undefined;
  #clock = 0;

  constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/hook`;
  }

  async open(): Promise<void> {
    const own = new Map<number, Arrival>();
    this.#process = new Assistant<Noted | 'listening'>('receiver-main.ts', { port: this.#port }, (noted) =>
      this.#note(noted, own),
    );
    await this.#process.line();
  }

  /** With SIGKILL. */
  async close(): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    this.#process = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #note(noted: Noted | 'listening', own: Map<number, Arrival>): void {
    if (noted === 'listening') return;
    const at = ++this.#clock;
    if ('arrived' in noted) {
      const { headers, body } = noted;
      const header = (name: string) => headers[name] ?? '';
      const arrival: Arrival = { header, body: Buffer.from(body, 'base64'), at, acceptedAt: undefined };
      own.set(noted.arrived, arrival);
      this.arrivals.push(arrival);
    } else {
      const arrival = own.get(noted.accepted);
      if (arrival) arrival.acceptedAt = at;
    }
  }
}
