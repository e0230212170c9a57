import { realWorld, startParley } from '../../compose.ts';
import { readSettings } from '../../config.ts';
import { endWithUs } from './cleanup.ts';
import type { Environment } from './engines.ts';
import type { ServerProcess } from './server.ts';

/** A server in a process of its own, whose leases of uploads are so short that a test can wait until they lapse. */
export async function spawnNode(env: Environment, leaseMs: number): Promise<ServerProcess> {
  const child = Bun.spawn([process.execPath, import.meta.path, String(leaseMs)], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  endWithUs(child);
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error('the server did not start');
  const kill = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return child.exited;
  };
  return { url: new TextDecoder().decode(value).trim(), process: child, kill };
}

if (import.meta.main) {
  const parley = await startParley(readSettings(process.env), {
    ...realWorld,
    uploadLeaseMs: Number(process.argv.at(-1)),
  });
  process.on('SIGTERM', () => void parley.stop().then(() => process.exit(0)));
  process.stdout.write(`${parley.url}\n`);
}
