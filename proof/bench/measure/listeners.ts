import type { Socket } from 'bun';
import { hangMs } from '../../harness/wait.ts';

/** Concurrent connection attempts. */
const concurrency = 64;

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
    close: () => {
      for (const socket of sockets) socket.terminate();
    },
  };
}

export type Listeners = Awaited<ReturnType<typeof openListeners>>;
