import { join } from 'node:path';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import { readOrEnd } from '../chaos/arguments.ts';
import { readCommandLine, usage } from './command-line.ts';

/**
 * A terminal tells everything that runs in it to end. So the soak runs in a session of its own, with its server and its database:
 * these go on until it has judged them. It alone is told, from here, and ends when this process does.
 */
const asked = readOrEnd(usage, () => readCommandLine(process.argv.slice(2)));
const cannot =
  process.platform !== 'linux'
    ? 'The soak looks at processes as Linux tells of them.'
    : asked.engine === 'postgres' && postgresMissing;
if (cannot) {
  console.error(cannot);
  process.exit(1);
}
const session = Bun.spawn([process.execPath, join(import.meta.dir, 'session.ts'), JSON.stringify(asked)], {
  detached: true,
  // Nothing is ever said here: that it ends tells the session that this process has.
  stdin: 'pipe',
  stdout: 'inherit',
  stderr: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => session.kill(signal));
process.exit(await session.exited);
