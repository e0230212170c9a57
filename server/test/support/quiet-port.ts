import { createServer } from 'node:net';

/**
 * Returns a free port below the ephemeral range, for servers that stop and start again. A client that reconnects again and
 * again while nothing listens would eventually get an ephemeral port as its own, connect to itself, and keep the port
 * in use.
 */
export async function quietPort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port from 10000 to 29999');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
