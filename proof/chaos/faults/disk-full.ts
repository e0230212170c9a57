import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { onSqliteOnly } from '../frame/engines.ts';
import type { Scene, Trial } from '../frame/trial.ts';
import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';

/** The size of the file system. What people write in the usual time is a fraction of it. */
const megabytes = 384;

const mount = (folder: string) =>
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stderr: 'ignore' }).success;

/** Whether this process may mount a file system. */
function mayMount(): boolean {
  const folder = temporaryFolder();
  const isAllowed = process.platform === 'linux' && mount(folder);
  if (isAllowed) Bun.spawnSync(['umount', folder]);
  return isAllowed;
}

export const diskFull: Trial<'times' | 'full'> = {
  summary: 'the disk of the database is full for a while, and has room again',
  seconds: 20,
  settings: {
    times: { summary: 'times that the disk is full', fallback: 5 },
    full: { summary: 'milliseconds that it is full each time, on average', fallback: 2_000 },
  },
  inapplicable: (engine) =>
    onSqliteOnly(engine) ?? (mayMount() ? undefined : 'It takes the right to mount a file system (tmpfs).'),
  ground: async (ends) => {
    const folder = temporaryFolder();
    if (!mount(folder)) throw new Error('a file system cannot be mounted');
    ends.defer(() => void Bun.spawnSync(['umount', folder]));
    return { PARLEY_DATA: folder };
  },
  wreak: async (scene, { times, full }, end) => {
    const random = stream(scene.seed, 'disk');
    for (let i = 0; i < times && !end.aborted; i++) {
      await pause(500 + 1_500 * random(), end);
      await fillUp(scene, full * (0.5 + random()), end);
      await untilGoingOn(scene, end);
    }
    return undefined;
  },
};

/** Takes all the room that is left, and what becomes free meanwhile. */
async function fillUp({ environments, calls, tally }: Scene, ms: number, end: AbortSignal): Promise<void> {
  const file = join(environments[0]?.PARLEY_DATA ?? '', 'somebody-elses-file');
  const handle = openSync(file, 'a');
  const from = calls.answers.length;
  const refused = () => calls.answers.slice(from).filter(({ outcome }) => outcome === 503).length;
  // For as long as was drawn, and until somebody has met with it.
  const isFull = (lastedMs: number) => lastedMs < ms || (refused() === 0 && lastedMs < hangMs);
  tally.count('times that the disk was full');
  try {
    for (const began = performance.now(); isFull(performance.now() - began) && !end.aborted; await pause(10, end)) {
      takeAll(handle);
    }
  } finally {
    closeSync(handle);
    unlinkSync(file);
  }
  tally.count('meanwhile, calls asked to come again', refused());
}

function takeAll(handle: number): void {
  for (let size = 2 ** 20; size >= 2 ** 12; ) {
    try {
      writeSync(handle, Buffer.alloc(size));
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
      size /= 2;
    }
  }
}

/** Nobody restarts it, and nothing else than room is given to it. */
async function untilGoingOn({ traffic, tally }: Scene, end: AbortSignal): Promise<void> {
  const before = traffic.acknowledged.size;
  for (const until = performance.now() + hangMs; performance.now() < until && !end.aborted; await pause(20, end)) {
    if (traffic.acknowledged.size > before) return;
  }
  tally.breach(`no message was taken within ${hangMs / 1_000} s of there being room again`);
}
