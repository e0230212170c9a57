import { Child } from './child.ts';
import type { Arrival } from './evidence.ts';
import type { Endpoint } from './receiver.ts';

export type Report =
  | 'listening'
  | { readonly arrived: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly accepted: number };

/** An endpoint in a process of its own, which `close` kills. */
export class ReceiverProcess implements Endpoint {
  readonly arrivals: Arrival[] = [];
  readonly url: string;
  readonly #port: number;
  #process: Child | undefined;
  #clock = 0;

  constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/hook`;
  }

  async open(): Promise<void> {
    const listening = Promise.withResolvers<void>();
    const own = new Map<number, Arrival>();
    const onLine = (line: string) => {
      const report = JSON.parse(line) as Report;
      if (report === 'listening') listening.resolve();
      else this.#take(report, own);
    };
    this.#process = new Child('proof/harness/receiver-main.ts', { input: { port: this.#port }, onLine });
    await listening.promise;
  }

  async close(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(report: Exclude<Report, 'listening'>, own: Map<number, Arrival>): void {
    const at = ++this.#clock;
    if ('arrived' in report) {
      const { headers, body } = report;
      const header = (name: string) => headers[name] ?? '';
      const arrival: Arrival = { header, body: Buffer.from(body, 'base64'), at, acceptedAt: undefined };
      own.set(report.arrived, arrival);
      this.arrivals.push(arrival);
    } else {
      const arrival = own.get(report.accepted);
      if (arrival) arrival.acceptedAt = at;
    }
  }
}
