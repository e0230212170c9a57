import { join } from 'node:path';
import { postgresMissing } from '../../server/test/support/postgres.ts';
import { endSignals, readOrExit } from '../harness/arguments.ts';
import { readCommandLine, usage } from './command-line.ts';

/**
 * A terminal signals all processes in it. So the soak runs in a session of its own, with its server and its database, which go
 * on until it has judged them. Only the soak gets the signal, from here, and it ends when this process does.
 */
const options = readOrExit(usage, readCommandLine);
const missing =
  process.platform !== 'linux'
    ? 'The soak needs Linux, which tells what a process holds.'
    : options.engine === 'postgres' && postgresMissing;
if (missing) {
  console.error(missing);
  process.exit(1);
}
const session = Bun.spawn([process.execPath, join(import.meta.dir, 'session.ts'), JSON.stringify(options)], {
  detached: true,
  // The pipe stays empty. Its end tells the session that this process has ended.
  stdin: 'pipe',
  stdout: 'inherit',
  stderr: 'inherit',
});
for (const signal of endSignals) process.on(signal, () => session.kill(signal));
process.exit(await session.exited);
