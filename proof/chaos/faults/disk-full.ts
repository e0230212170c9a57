import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { stream } from '../../harness/random.ts';
import { hangMs, pause, waitUntil } from '../../harness/wait.ts';
import { onSqliteOnly, type Scenario, type Scene } from '../scenario.ts';

/** The size of the file system. Traffic of the usual length takes a fraction of it. */
const megabytes = 384;

const mount = (folder: string) =>
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stderr: 'ignore' }).success;

function canMount(): boolean {
  const folder = temporaryFolder();
  const isMounted = process.platform === 'linux' && mount(folder);
  if (isMounted) Bun.spawnSync(['umount', folder]);
  return isMounted;
}

export const diskFull: Scenario<'times' | 'full'> = {
  summary: 'the disk of the database is full for a while, and has room again',
  seconds: 20,
  settings: {
    times: { summary: 'times that the disk is full', fallback: 5 },
    full: { summary: 'milliseconds that it is full each time, on average', fallback: 2_000 },
  },
  inapplicable: (engine) =>
    onSqliteOnly(engine) ?? (canMount() ? undefined : 'It needs the right to mount a file system (tmpfs).'),
  prepare: async (ends) => {
    const folder = temporaryFolder();
    if (!mount(folder)) throw new Error('a file system cannot be mounted');
    ends.defer(() => void Bun.spawnSync(['umount', folder]));
    return { PARLEY_DATA: folder };
  },
  disturb: async (scene, { times, full }, end) => {
    const random = stream(scene.seed, 'disk');
    for (let i = 0; i < times && !end.aborted; i++) {
      await pause(500 + 1_500 * random(), end);
      await fillDisk(scene, full * (0.5 + random()), end);
      await untilWritable(scene, end);
    }
  },
};

/** Takes all the room that is left, and what becomes free meanwhile. */
async function fillDisk({ environments, calls, tally }: Scene, ms: number, end: AbortSignal): Promise<void> {
  const file = join(environments[0]?.PARLEY_DATA ?? '', 'somebody-elses-file');
  const handle = openSync(file, 'a');
  const from = calls.answers.length;
  const refused = () => calls.answers.slice(from).filter(({ outcome }) => outcome === 503).length;
  const began = performance.now();
  tally.count('times that the disk was full');
  try {
    // For as long as was drawn, and until a call was refused.
    const isEnough = () => {
      takeAll(handle);
      return performance.now() - began > ms && refused() > 0;
    };
    await waitUntil(isEnough, { end, everyMs: 10 });
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

/** The server must recover by itself, without a restart. */
async function untilWritable({ traffic, tally }: Scene, end: AbortSignal): Promise<void> {
  const before = traffic.acknowledged.size;
  const isWritable = await waitUntil(() => traffic.acknowledged.size > before, { end });
  if (!isWritable && !end.aborted) {
    tally.breach(`no message was accepted within ${hangMs / 1_000} s of there being room again`);
  }
}
