import { createServer } from 'node:net';

/**
 * A free port below those that the system gives to outgoing connections, for servers that go away and come back. Among
 * those, somebody who calls again and again while nobody listens would sooner or later be given that very port, be
 * connected to itself, and keep it taken.
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
