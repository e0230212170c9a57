import { connect } from 'node:net';
import { type Noted, startDaemon, temporaryFolder } from './cleanup.ts';
import { eventually } from './eventually.ts';
import { quietPort } from './quiet-port.ts';
import { findServer, require } from './requirements.ts';

/** A NATS server that ends with this process. It can be stopped and started again on the same port. */
export interface Nats {
  /** The value for `NATS_URL`. */
  readonly url: string;
  /** Kills it: every connection breaks, and nothing listens any more. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const binary = findServer('nats-server');

export const natsMissing = require(binary !== undefined, 'NATS', 'nats-server');

export async function startNats(): Promise<Nats> {
  if (binary === undefined) throw new Error(natsMissing);
  const port = await quietPort();
  const folder = temporaryFolder();
  const command = [binary, '--addr', '127.0.0.1', '--port', String(port), '--store_dir', folder];
  let running: Noted | undefined;
  const nats: Nats = {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      if (running !== undefined) return;
      running = await startDaemon(command, { cwd: folder });
      await eventually('NATS listens', async () => (await listens(port)) || undefined);
    },
    async stop() {
      running?.kill('SIGKILL');
      running?.forget();
      running = undefined;
      await eventually('NATS has ended', async () => !(await listens(port)) || undefined);
    },
  };
  await nats.start();
  return nats;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1');
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}
