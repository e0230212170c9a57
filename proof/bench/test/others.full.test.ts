import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { endWithUs } from '../../../server/test/support/cleanup.ts';

/** Ticks of the processor, out of the 25 that the process takes at the least. */
const most = 22;

async function whileWorking(who: 'child' | 'grandchild' | 'stranger') {
  const command = [process.execPath, join(import.meta.dir, 'support/work-beside.ts'), who];
  const child = Bun.spawn(command, { detached: true, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' });
  endWithUs(child);
  return (await new Response(child.stdout).json()) as { ownGrowth: number; otherSeconds: number };
}

describe.skipIf(process.platform !== 'linux')('what a process did', () => {
  test('is our own if we started it, also when it has ended', async () => {
    expect((await whileWorking('child')).ownGrowth).toBeGreaterThanOrEqual(most);
    expect((await whileWorking('grandchild')).ownGrowth).toBeGreaterThanOrEqual(most);
  });

  test.skipIf(Bun.which('setsid') === null)('is not our own if it is a stranger, and is seen', async () => {
    const { ownGrowth, otherSeconds } = await whileWorking('stranger');
    expect(ownGrowth).toBeLessThan(most);
    // The kernel's work for our own network traffic may hide a little of it.
    expect(otherSeconds).toBeGreaterThan(0.1);
  });
});
