import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let base: string | undefined;

/**
 * A folder for everything that this test run leaves behind. A watchdog waits on a pipe that closes when this process
 * ends, however it ends (the test runner calls no exit handlers), then ends the processes noted and removes the folder.
 */
function runFolder(): string {
  if (base === undefined) {
    base = mkdtempSync(join(tmpdir(), 'parley-run-'));
    mkdirSync(join(base, 'processes'));
    const script =
      'cat >/dev/null; for p in "$0"/processes/*; do kill -QUIT "${p##*/}" 2>/dev/null; done; sleep 1; rm -rf "$0"';
    Bun.spawn(['setsid', 'sh', '-c', script, base], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' }).unref();
  }
  return base;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(runFolder(), 'folder-'));
}

/** Has a process ended together with this one. */
export function endWithUs(child: { pid: number }): void {
  writeFileSync(join(runFolder(), 'processes', String(child.pid)), '');
}
