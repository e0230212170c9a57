import type { Socket } from 'bun';
import { given, say } from '../../harness/helper.ts';
import { pick, stream } from '../../harness/random.ts';
import { flush } from '../../harness/socket.ts';
import { isFault } from '../verdicts.ts';
import { junk, type Target } from './junk.ts';

/** The input of the helper. */
export interface Flood extends Target {
  readonly port: number;
  readonly seed: number;
  readonly connections: number;
}

/** A connection without a response is closed after this time: the server waits for the rest of a body. */
const timeoutMs = 1_500;

const { port, seed, connections, ...target } = await given<Flood>();
const kinds = Object.keys(junk) as [string, ...string[]];
const answers = new Map<string, number>();
const faults: string[] = [];
let [number, bytes] = [0, 0];
let isOver = false;

/** Sends one piece of junk over a connection of its own, and counts the responses. */
async function send(one: number): Promise<void> {
  const random = stream(seed, `junk ${one}`);
  const kind = pick(random, kinds);
  const heard = await exchange([...(junk[kind]?.(target, random) ?? [])].map((piece) => Buffer.from(piece)));
  const statuses = [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status);
  for (const status of statuses.length > 0 ? statuses : ['no response']) {
    const name = `${kind}: ${status}`;
    answers.set(name, (answers.get(name) ?? 0) + 1);
    if (isFault(status)) faults.push(`junk ${one}, ${kind}: ${heard.slice(0, 600)}`);
  }
}

/** Returns what the server sent until it closed the connection, was silent for too long, or had responded. */
function exchange(pieces: Uint8Array[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let heard = '';
  let isClosed = false;
  const send = (socket: Socket) => {
    bytes += flush(socket, pieces);
  };
  const end = () => {
    isClosed = true;
    resolve(heard);
  };
  Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (socket) => {
        send(socket);
        setTimeout(() => {
          if (!isClosed) socket.terminate();
        }, timeoutMs);
      },
      drain: send,
      data: (socket, data) => {
        if (heard.length < 100_000) heard += data.toString('latin1');
        // Everything is sent and the response has begun: wait a moment for its rest.
        if (pieces.length === 0) setTimeout(() => socket.terminate(), 50);
      },
      error: () => {},
      close: end,
    },
  }).catch(end);
  return promise;
}

process.on('SIGTERM', () => {
  isOver = true;
});
say('ready');
await Promise.all(
  Array.from({ length: connections }, async () => {
    while (!isOver) await send(number++);
  }),
);
const result = {
  sent: number,
  megabytes: Math.round(bytes / 2 ** 20),
  /** By kind and status: `a huge body 413`. */
  answers: Object.fromEntries([...answers].sort()),
  /** Responses that are a fault of the server. */
  faults,
};
export type FloodResult = typeof result;
say(result);
process.exit(0);
