import { processRuntime, startParley } from '../../compose.ts';
import { readSettings } from '../../config.ts';
import { endWithUs } from './cleanup.ts';
import type { Environment } from './engines.ts';
import type { ServerProcess, TestServer } from './server.ts';

/** Leases that expire only through `lapse`. They are renewed often, so that a server notices it soon. */
export const heldLong = { uploadLeaseMs: 3_600_000, uploadRenewMs: 100 };

/** Expires the leases of all uploads, as if their servers had been down for long. */
export async function lapse({ engine }: Pick<TestServer, 'engine'>): Promise<void> {
  await engine.run('UPDATE files SET lease_expires_at = 1 WHERE lease_expires_at > 0');
}

/** Starts a server in a process of its own, with leases that do not expire. */
export async function spawnNode(env: Environment): Promise<ServerProcess> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
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
  const parley = await startParley(readSettings(process.env), { ...processRuntime, ...heldLong });
  process.on('SIGTERM', () => void parley.stop().then(() => process.exit(0)));
  process.stdout.write(`${parley.url}\n`);
}
