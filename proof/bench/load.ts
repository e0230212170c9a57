import type { Socket } from 'bun';
import { given, say } from '../harness/helper.ts';
import { countCpu } from '../harness/machine.ts';
import { hangMs } from '../harness/wait.ts';
import { Histogram } from './histogram.ts';

/**
 * The load generator, a helper process: raw HTTP/1.1 over plain sockets, each with one request in flight. It does so little
 * for a request that the server is what is measured.
 */

export interface Job {
  readonly port: number;
  /** The server's process, to measure how busy it is. */
  readonly pid: number;
  /** Whole requests as text. Free connections send them in turn, again and again. */
  readonly requests: readonly string[];
  readonly connections: number;
  /**
   * Requests a second, at fixed times. The time that one waits for a free connection counts too. Undefined: as many as the
   * server responds to.
   */
  readonly perSecond?: number | undefined;
  /** Time under load before the measured window. */
  readonly leadSeconds: number;
  readonly seconds: number;
}

export type Load = Awaited<ReturnType<typeof generate>>;

interface Connection {
  /** When the request was sent, or was due. */
  askedAt: number;
  /** The missing bytes of the body; 0 while a head is awaited. */
  left: number;
  head: Buffer | undefined;
}

async function generate(job: Job) {
  const latencies = new Histogram();
  let [answers, measured, failures, open] = [0, 0, 0, job.connections];
  let firstFailure: string | undefined;
  let [measuring, stopping] = [false, false];
  const allClosed = Promise.withResolvers<void>();

  const requests = job.requests.map((text) => Buffer.from(text));
  let sent = 0;
  const send = (socket: Socket<Connection>, at: number) => {
    const request = requests[sent++ % requests.length];
    if (!request) throw new Error('there is no request to send');
    socket.data.askedAt = at;
    if (socket.write(request) !== request.length) fail('a request was not written at once');
  };
  const fail = (why: string) => {
    failures++;
    firstFailure ??= why;
  };
  const free: Socket<Connection>[] = [];
  /** The due times of requests that found no free connection. */
  const late: number[] = [];
  const proceed = (socket: Socket<Connection>) => {
    const at = job.perSecond === undefined ? performance.now() : late.shift();
    if (at === undefined) free.push(socket);
    else send(socket, at);
  };
  const answered = (socket: Socket<Connection>) => {
    answers++;
    if (measuring) {
      measured++;
      latencies.add(performance.now() - socket.data.askedAt);
    }
    if (stopping) socket.end();
    else proceed(socket);
  };

  const socket = {
    open: proceed,
    data(socket: Socket<Connection>, part: Buffer) {
      const connection = socket.data;
      if (connection.left > 0) {
        connection.left -= part.length;
      } else {
        const text = connection.head ? Buffer.concat([connection.head, part]) : part;
        const end = text.indexOf('\r\n\r\n');
        connection.head = end < 0 ? Buffer.from(text) : undefined;
        if (end < 0) return;
        const head = text.toString('latin1', 0, end);
        if (!head.startsWith('HTTP/1.1 200 ')) {
          fail(text.toString());
          return void socket.end();
        }
        connection.left = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]) - text.length;
      }
      if (connection.left === 0) answered(socket);
    },
    close() {
      if (!stopping) fail('the server closed a connection');
      if (--open === 0) allClosed.resolve();
    },
    error: (_: Socket<Connection>, error: Error) => fail(error.message),
  };

  /** The requests of a millisecond are sent together. A busy loop would be more even, and take a core from the database. */
  const keepTime = (perSecond: number) => {
    const began = performance.now();
    let come = 0;
    setInterval(() => {
      const now = performance.now();
      for (; !stopping && come < ((now - began) / 1_000) * perSecond; come++) {
        const socket = free.pop();
        if (socket) send(socket, now);
        else late.push(now);
      }
    }, 1);
  };

  for (let i = 0; i < job.connections; i++) {
    const data: Connection = { askedAt: 0, left: 0, head: undefined };
    await Bun.connect<Connection>({ hostname: '127.0.0.1', port: job.port, data, socket });
  }
  if (job.perSecond !== undefined) keepTime(job.perSecond);
  await Bun.sleep(job.leadSeconds * 1_000);
  const [began, server, generator] = [performance.now(), countCpu(job.pid), countCpu(process.pid)];
  measuring = true;
  await Bun.sleep(job.seconds * 1_000);
  // On a busy machine a short window may see no response at all: wait for one.
  for (const late = performance.now() + hangMs; measured === 0 && failures === 0 && performance.now() < late; ) {
    await Bun.sleep(100);
  }
  measuring = false;
  const seconds = (performance.now() - began) / 1_000;
  const busy = (cpu: number | undefined) => cpu && cpu / seconds;
  const [serverBusy, loadBusy] = [busy(server()), busy(generator())];
  stopping = true;
  for (const socket of free) socket.end();
  await Promise.race([allClosed.promise, Bun.sleep(hangMs)]);
  if (open > 0) fail(`${open} requests got no answer`);
  const [p50Ms, p99Ms] = [latencies.quantile(0.5), latencies.quantile(0.99)];
  const perSecond = measured / seconds;
  return {
    /** All responses with 200. */
    answers,
    ...{ perSecond, p50Ms, p99Ms, failures, firstFailure },
    /** Shares of one core. */
    ...{ serverBusy, loadBusy },
  };
}

say(await generate(await given<Job>()));
process.exit(0);
