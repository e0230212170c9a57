import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../server/test/support/cleanup.ts';
import { othersWhile, ownTicks } from '../../../harness/others.ts';

/**
 * Has a process work, and tells in JSON how much of it counts as ours. It runs in a group of processes of its own: the
 * processes of a test run share one.
 */

const done = join(temporaryFolder(), 'done');

/** Works for a quarter of a second of processor time, however long that takes, and says that it has. */
const work = [
  process.execPath,
  '-e',
  `while (process.cpuUsage().user < 250_000); await Bun.write(${JSON.stringify(done)}, '')`,
];

const commands: Readonly<Record<string, readonly string[]>> = {
  child: work,
  grandchild: ['sh', '-c', '"$@" & wait', 'sh', ...work],
  stranger: ['setsid', '--fork', ...work],
};

const command = commands[process.argv[2] ?? ''];
if (!command) throw new Error('there is no such process');
const began = performance.now();
const { result: ownGrowth, others } = await othersWhile(async () => {
  const before = ownTicks();
  await Bun.spawn([...command]).exited;
  while (!existsSync(done)) await Bun.sleep(20);
  return ownTicks() - before;
});
const seconds = (performance.now() - began) / 1_000;
console.log(JSON.stringify({ ownGrowth, otherSeconds: (others ?? 0) * cpus().length * seconds }));
