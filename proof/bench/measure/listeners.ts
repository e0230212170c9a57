import type { Socket } from 'bun';
import { hashToken, newSecret } from '../../../server/auth/access-token.ts';
import { processRuntime } from '../../../server/compose.ts';
import { insertToken } from '../../../server/store/access/tokens.ts';
import { insertUser } from '../../../server/store/access/users.ts';
import { hangMs } from '../../harness/wait.ts';
import type { Parley } from '../parley.ts';

/** Concurrent connection attempts. */
const concurrency = 64;

export const streamRequest = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '\r\n'].join('\r\n');

/** Opens a stream for each request over a plain socket, which only counts. Returns once all have a response. */
export async function openListeners(port: number, requests: readonly string[]) {
  const sockets: Socket<undefined>[] = [];
  let [mark, heard] = ['HTTP/1.1 200', 0];
  let all = Promise.withResolvers<void>();
  const data = (_: unknown, bytes: Buffer) => {
    if (bytes.includes(mark) && ++heard === requests.length) all.resolve();
  };
  const untilAll = () => {
    const complain = () => all.reject(new Error(`only ${heard} of ${requests.length} listeners heard it`));
    const timer = setTimeout(complain, hangMs);
    return all.promise.finally(() => clearTimeout(timer));
  };
  const connect = async (request: string) => {
    const open = (socket: Socket<undefined>) => void socket.write(request);
    sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open, data } }));
  };
  for (let start = 0; start < requests.length; start += concurrency) {
    await Promise.all(requests.slice(start, start + concurrency).map(connect));
  }
  await untilAll();
  return {
    /** Returns once all have received something with this mark in it. */
    hear: async (next: string, send: () => Promise<unknown>): Promise<void> => {
      [mark, heard] = [next, 0];
      all = Promise.withResolvers();
      await send();
      await untilAll();
    },
    /** Starts to count what has this mark in it. Returns a function that returns the count. */
    count: (next: string): (() => number) => {
      [mark, heard] = [next, 0];
      return () => heard;
    },
    close: () => {
      for (const socket of sockets) socket.terminate();
    },
  };
}

export type Listeners = Awaited<ReturnType<typeof openListeners>>;

/** Adds users with a token from beside the server: through it they would take a minute. */
export async function addPeople({ engine }: Parley, count: number): Promise<{ userId: number; token: string }[]> {
  const at = Date.now();
  return engine.write(async (tx) => {
    const people: { userId: number; token: string }[] = [];
    for (let i = 0; i < count; i++) {
      const name = `listener${i}`;
      const user = await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at });
      if (!user) throw new Error(`there is a ${name} already`);
      const { user_id: userId } = user;
      const token = newSecret('personal', processRuntime.random);
      await insertToken(tx, {
        ...{
          user_id: userId,
          kind: 'personal',
          name: 'bench',
          hash: hashToken(token),
          scopes: 'messages:read messages:write',
        },
        ...{ parent_id: null, app_id: 0, grant_id: null, created_at: at, expires_at: null },
      });
      people.push({ userId, token });
    }
    return people;
  });
}
