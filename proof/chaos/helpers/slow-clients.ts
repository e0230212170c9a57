import type { Socket } from 'bun';
import { given, say } from '../../harness/helper.ts';

/** The input of the helper. */
export interface SlowClients {
  readonly port: number;
  readonly token: string;
  readonly chatId: number;
  readonly count: number;
}

interface Client {
  /** Sent byte by byte; empty if the client only does not read. */
  readonly drip: string;
}

/** The interval between two bytes of a client. */
const dripMs = 5_000;
const tickMs = 100;

/** Concurrent connection attempts. */
const dialling = 100;

/** The delay before a client that was closed connects again. */
const againMs = 1_000;

const { port, token, chatId, count } = await given<SlowClients>();
const lines = (...all: string[]) => `${[...all, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`].join('\r\n')}\r\n`;
const page = lines(`GET /api/messages.php?action=get_messages&chat_id=${chatId}&limit=200 HTTP/1.1`);
const send = lines('POST /api/messages.php?action=send_message HTTP/1.1');
const body = `Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"chat_id": ${chatId}, "content": "`;

/** The kinds of clients; `of` is the number among twenty. */
const kinds: readonly { readonly of: number; readonly opening: string; readonly drip: string }[] = [
  // The head never ends.
  { of: 9, opening: `${page}X-Slow: `, drip: 'a' },
  // The body never ends.
  { of: 9, opening: send + body, drip: 'b' },
  // The responses, or the stream, are never read.
  { of: 1, opening: `${page}\r\n`.repeat(4), drip: '' },
  { of: 1, opening: `${lines('GET /api/events.php?action=stream&after=0 HTTP/1.1')}\r\n`, drip: '' },
];
const deck = kinds.flatMap((kind) => Array.from({ length: kind.of }, () => kind));

const open = new Set<Socket<Client>>();
let [connected, refused, closedByServer, isOver] = [0, 0, 0, false];

async function connect(number: number): Promise<void> {
  const { opening, drip } = deck[number % deck.length] ?? { opening: page, drip: 'a' };
  try {
    await Bun.connect<Client>({
      hostname: '127.0.0.1',
      port,
      data: { drip },
      socket: {
        open: (socket) => {
          connected++;
          open.add(socket);
          if (drip === '') socket.pause();
          socket.write(opening);
        },
        data: () => {},
        error: () => {},
        close: (socket) => {
          open.delete(socket);
          closedByServer++;
          // An attacker comes back.
          if (!isOver) setTimeout(() => void connect(number), againMs);
        },
      },
    });
  } catch {
    refused++;
  }
}

let next = 0;
await Promise.all(
  Array.from({ length: dialling }, async () => {
    while (next < count) await connect(next++);
  }),
);
/** Reported once all have connected, and once more on SIGTERM. */
const counts = () => ({ connected, refused, closedByServer, open: open.size });
export type ClientCounts = ReturnType<typeof counts>;
say(counts());

let turn = 0;
const turns = dripMs / tickMs;
setInterval(() => {
  const now = turn++ % turns;
  let place = 0;
  for (const socket of open) if (place++ % turns === now && socket.data.drip !== '') socket.write(socket.data.drip);
}, tickMs);

process.on('SIGTERM', () => {
  isOver = true;
  say(counts());
  process.exit(0);
});
