import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { endWithUs, temporaryFolder } from './cleanup.ts';
import { quietPort } from './quiet-port.ts';

/** A NATS of our own, gone when the process is. It can be away for a while, and comes back on the same port. */
export interface Nats {
  /** As `NATS_URL` takes it. */
  readonly url: string;
  /** Ends it at once: every connection to it breaks, and nobody listens any more. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Debian keeps it out of the path of ordinary users. */
function findBinary(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, 'nats-server')).find((file) => existsSync(file));
}

const binary = findBinary();

/** With CI set a missing server fails the run; elsewhere its suites are skipped, and this says what to install. */
export const natsMissing: string | undefined =
  binary === undefined ? 'NATS is not installed: apt-get install nats-server' : undefined;

if (natsMissing && process.env.CI) throw new Error(natsMissing);

export async function startNats(): Promise<Nats> {
  if (binary === undefined) throw new Error(natsMissing);
  const port = await quietPort();
  const folder = temporaryFolder();
  const command = [binary, '--addr', '127.0.0.1', '--port', String(port), '--store_dir', folder];
  let pid: number | undefined;
  const nats: Nats = {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      if (pid !== undefined) return;
      // Through a shell that leaves it behind: the test runner ends the children of a test that took too long. What a
      // shell leaves behind ignores the signal that ends it with us, unless it is told not to.
      const starter = Bun.spawn(
        ['sh', '-c', '"$@" >/dev/null 2>&1 & echo $!', 'sh', 'env', '--default-signal=QUIT', ...command],
        { stdout: 'pipe', stdin: 'ignore', cwd: folder },
      );
      pid = Number(await new Response(starter.stdout).text());
      endWithUs({ pid });
      await until('listens', () => listens(port));
    },
    async stop() {
      if (pid === undefined) return;
      process.kill(pid, 'SIGKILL');
      pid = undefined;
      await until('has ended', async () => !(await listens(port)));
    },
  };
  await nats.start();
  return nats;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if (await isSo()) return;
    await Bun.sleep(10);
  }
  throw new Error(`NATS: not within 10 s: it ${what}`);
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
