import { given, say } from './helper.ts';
import { Receiver } from './receiver.ts';
import type { Report } from './receiver-process.ts';

/** The process of a receiver. It reports each step before it takes it, because it may be killed at any time. */
const { port } = await given<{ port: number }>();
const report: (line: Report) => void = say;
const receiver = new Receiver(port, undefined, {
  onArrival: ({ at, headers, body }) => report({ arrived: at, headers, body: body.toString('base64') }),
  onAccept: ({ at }) => report({ accepted: at }),
});
// A delay, so that a kill hits requests in flight.
receiver.behaviour = { delayMs: [5, 5] };
await receiver.open();
report('listening');
