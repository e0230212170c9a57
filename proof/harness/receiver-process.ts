import { Child } from './child.ts';
import type { Arrival } from './evidence.ts';
import type { Endpoint } from './receiver.ts';

export type Report =
  | 'listening'
  | { readonly arrived: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly accepted: number };

/** Returns an endpoint in a process of its own, which `close` kills. */
export function receiverProcess(port: number): Endpoint {
  const arrivals: Arrival[] = [];
  let process: Child | undefined;
  let clock = 0;
  const take = (report: Exclude<Report, 'listening'>, own: Map<number, Arrival>) => {
    const at = ++clock;
    if ('arrived' in report) {
      const { headers, body } = report;
      const header = (name: string) => headers[name] ?? '';
      const arrival: Arrival = { header, body: Buffer.from(body, 'base64'), at, acceptedAt: undefined };
      own.set(report.arrived, arrival);
      arrivals.push(arrival);
    } else {
      const arrival = own.get(report.accepted);
      if (arrival) arrival.acceptedAt = at;
    }
  };
  const close = async () => {
    await process?.kill();
    process = undefined;
  };
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    open: async () => {
      const listening = Promise.withResolvers<void>();
      const own = new Map<number, Arrival>();
      const onLine = (line: string) => {
        const report = JSON.parse(line) as Report;
        if (report === 'listening') listening.resolve();
        else take(report, own);
      };
      process = new Child('proof/harness/receiver-main.ts', { input: { port }, onLine });
      await listening.promise;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
