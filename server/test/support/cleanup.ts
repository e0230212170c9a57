import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let base: string | undefined;

/** Waits for the end of this process, ends those that are noted, and removes the folder. */
const watchdog = `(
  while kill -0 "$1" 2>/dev/null; do sleep 0.3; done
  cd "$0/processes" && for p in *; do kill -QUIT "$p" 2>/dev/null; done
  for try in 1 2 3 4 5; do sleep 0.5; rm -rf "$0" && break; done
) >/dev/null 2>&1 &`;

/**
 * A folder for everything that this test run leaves behind. The test runner calls no exit handlers, and ends the children
 * of a test that takes too long: so the watchdog is nobody's child, and looks whether this process is still there.
 */
function runFolder(): string {
  if (base === undefined) {
    base = mkdtempSync(join(tmpdir(), 'parley-run-'));
    mkdirSync(join(base, 'processes'));
    Bun.spawnSync(['sh', '-c', watchdog, base, String(process.pid)]);
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
