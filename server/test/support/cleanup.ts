import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `base` is on disk. `memory` is in memory if there is room, and otherwise the same folder. */
let folders: { readonly base: string; readonly memory: string } | undefined;

/**
 * Waits for the end of the process `$1`, which started at `$2`. Then it ends the noted processes and removes the folder
 * `$0` and `$3`. A process id alone proves nothing, because the system gives it to another process later: a process is
 * the noted one only if its start time is the noted one too.
 * A signal to the whole group of processes, such as a terminal sends, does not end the watchdog.
 */
const watchdog = `
  started() {
    if [ -d /proc/self ]; then
      read -r line 2>/dev/null <"/proc/$1/stat" || return
      set -- \${line##*) }
      [ "$1" = Z ] || echo "\${20}"
    else
      ps -o lstart= -p "$1"
    fi
  }
  ( trap '' HUP INT TERM
    while [ "$(started "$1" 2>/dev/null)" = "$2" ]; do sleep 0.3; done
    cd "$0/processes" && for id in *; do
      [ -f "$id" ] && [ "$(started "$id" 2>/dev/null)" = "$(cat "$id")" ] && kill -QUIT "$id"
    done
    for try in 1 2 3 4 5; do sleep 0.5; rm -rf "$0" "$3" && break; done
  ) >/dev/null 2>&1 &`;

/**
 * Folders for everything that this test run leaves behind. The test runner calls no exit handlers, and ends the children
 * of a test that takes too long. So the watchdog is nobody's child.
 */
function runFolders() {
  if (folders === undefined) {
    const base = mkdtempSync(join(tmpdir(), 'parley-run-'));
    const memory = hasRoomInMemory() ? mkdtempSync(join(memoryFolder, 'parley-run-')) : base;
    folders = { base, memory };
    mkdirSync(join(base, 'processes'));
    Bun.spawnSync(['sh', '-c', watchdog, base, String(process.pid), startTime(process.pid) ?? '', memory]);
  }
  return folders;
}

const memoryFolder = '/dev/shm';
const leastRoom = 4 * 2 ** 30;

function hasRoomInMemory(): boolean {
  if (!existsSync(memoryFolder)) return false;
  const { bavail, bsize } = statfsSync(memoryFolder);
  return bavail * bsize >= leastRoom;
}

export function temporaryFolder(): string {
  return mkdtempSync(join(runFolders().base, 'folder-'));
}

/** Returns a folder for the data of a server. In memory an fsync is free, which makes the tests a third faster. */
export function dataFolder(): string {
  return mkdtempSync(join(runFolders().memory, 'data-'));
}

/** Returns the start time of a process in clock ticks, or undefined if it has ended. */
function startTime(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    return (
      Bun.spawnSync(['ps', '-o', 'lstart=', '-p', String(pid)])
        .stdout.toString()
        .trim() || undefined
    );
  }
  try {
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    const [state, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

/** A process that ends with this test run at the latest. */
export interface Noted {
  /** Sends the signal if the process still runs. Another process with the same id gets none. */
  kill(signal: NodeJS.Signals): void;
  isRunning(): boolean;
  /** Forgets the process after it has ended. */
  forget(): void;
}

/** Ends a process together with this one. A child is forgotten when it ends. */
export function endWithUs({ pid, exited }: { readonly pid: number; readonly exited?: Promise<unknown> }): Noted {
  const note = join(runFolders().base, 'processes', String(pid));
  const started = startTime(pid);
  const isRunning = () => started !== undefined && startTime(pid) === started;
  const forget = () => rmSync(note, { force: true });
  if (started !== undefined) writeFileSync(note, started);
  void exited?.then(forget);
  return {
    isRunning,
    kill: (signal) => {
      if (isRunning()) process.kill(pid, signal);
    },
    forget,
  };
}

/**
 * Starts a server that several tests share. It is not a child of this process: the test runner ends the children of a test
 * that took too long. `output` is the file for what it prints.
 */
export async function startDaemon(
  command: readonly string[],
  { cwd, output = '/dev/null' }: { readonly cwd?: string; readonly output?: string } = {},
): Promise<Noted> {
  // A shell starts background jobs with SIGQUIT ignored, which is the signal that ends them with us.
  const starter = Bun.spawn(
    ['sh', '-c', '"$@" >"$0" 2>&1 & echo $!', output, 'env', '--default-signal=QUIT', ...command],
    { stdout: 'pipe', stdin: 'ignore', ...(cwd !== undefined && { cwd }) },
  );
  return endWithUs({ pid: Number(await new Response(starter.stdout).text()) });
}
