import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Random } from './random.ts';

/** How an endpoint treats what comes to it. */
export type Mood =
  | 'fine'
  | 'refusing'
  | 'resetting'
  | 'hanging'
  | 'slow'
  | 'wavering'
  | 'talking nonsense'
  | 'redirecting'
  | 'dripping'
  | 'gushing';

/** A request that has come in full, and what can be done with it. */
export interface Request {
  /** Begins the answer that accepts it, where somebody is there to see it. */
  accept(): ServerResponse | undefined;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** An address where nobody should be sent. */
  readonly elsewhere: string;
  /** How long to hang. */
  readonly hangMs: number;
}

const thank = (response: ServerResponse | undefined) => void response?.end('thank you');
const refuse = ({ response }: Request) => void response.writeHead(500).end('not now');

/** What comes where an answer is expected. */
const nonsense = [
  'HTTP/9.9 two hundred\r\n\r\n',
  '\u0000\u0001\u0002\u0003 not HTTP at all',
  'HTTP/1.1 99999 No\r\n\r\n',
] as const;

/** What a dripping answer consists of, and how fast it comes. It never ends. */
const dripMs = 200;
const gush = Buffer.alloc(65_536, 'gush ');

/** So much of a gushing answer is sent. */
const mostGushes = 64;

export const moods: Readonly<Record<Mood, (request: Request, random: Random) => void>> = {
  fine: ({ accept }) => thank(accept()),
  refusing: refuse,
  resetting: ({ socket }) => void socket.destroy(),
  hanging: ({ socket, hangMs }) => void setTimeout(() => socket.destroy(), hangMs).unref(),
  slow: ({ accept }, random) => void setTimeout(() => thank(accept()), 50 + 1_500 * random()),
  wavering: (request, random) => (random() < 0.3 ? refuse(request) : thank(request.accept())),
  'talking nonsense': ({ socket }, random) =>
    void socket.end(nonsense[Math.floor(random() * nonsense.length)] ?? nonsense[0]),
  redirecting: ({ response, elsewhere }, random) =>
    void response.writeHead(random() < 0.5 ? 302 : 307, { location: elsewhere }).end(),
  // What comes after a status of success changes nothing.
  dripping: ({ accept, socket }) => {
    const response = accept();
    if (!response) return;
    const drops = setInterval(() => response.write('.'), dripMs);
    socket.once('close', () => clearInterval(drops));
  },
  gushing: ({ accept }) => {
    const response = accept();
    for (let i = 0; response && i < mostGushes; i++) response.write(gush);
    response?.end();
  },
};
