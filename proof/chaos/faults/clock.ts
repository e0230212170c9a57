import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import type { Scene, Trial } from '../frame/trial.ts';
import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import { stream } from '../random.ts';
import { lockedOut } from '../verdicts.ts';

/** Hours that the clock is wrong by at most, either way: what is kept for a day is still kept. */
const mostHours = 10;

/** An endpoint is away for so long before each jump, so that something waits for a time of the old clock. */
const awayMs = 700;

/** Where Debian puts the library that shows a process another time than there is. */
function findLibrary(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name)) : [];
  return ['/usr/lib', '/usr/local/lib', ...folders]
    .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
    .find((file) => existsSync(file));
}

const library = findLibrary();

/** Seconds from the true time; read by the library at every look at the clock. */
function setClock(file: string, seconds: number): void {
  writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  renameSync(`${file}.new`, file);
}

export const clock: Trial<'jumps'> = {
  summary: 'the clock of the server jumps by hours, forwards and back',
  seconds: 30,
  settings: { jumps: { summary: 'jumps, by turns forwards and back', fallback: 8 } },
  inapplicable: () => (library ? undefined : 'It takes libfaketime: apt-get install faketime'),
  ground: async () => {
    const file = join(temporaryFolder(), 'clock');
    setClock(file, 0);
    return {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Timers follow the clock that never jumps, as they do on a real machine.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      PARLEY_RATE_LIMIT: '50/200',
    };
  },
  wreak: async (scene, { jumps }, end) => {
    const random = stream(scene.seed, 'jumps');
    const file = scene.environments[0]?.FAKETIME_TIMESTAMP_FILE ?? '';
    for (let i = 0; i < jumps && !end.aborted; i++) {
      const isForwards = i % 2 === 0;
      const hours = mostHours * random();
      await pause((scene.ms / jumps) * random(), end);
      await scene.endpoints['one chat'].close();
      await pause(awayMs, end);
      setClock(file, Math.round((isForwards ? hours : -hours) * 3_600));
      await scene.endpoints['one chat'].open();
      scene.tally.count(isForwards ? 'jumps of the clock forwards' : 'jumps of the clock back');
      await untilEverybodyGoesOn(scene, end);
    }
    return undefined;
  },
};

/** Nobody is locked out: not by a rate limit, not by a token that seems to be of another time. */
async function untilEverybodyGoesOn({ stage, calls, tally }: Scene, end: AbortSignal): Promise<void> {
  const jumped = performance.now();
  const userIds = stage.writers.map(({ userId }) => userId);
  const waiting = () => lockedOut(userIds, calls.lastSuccess, jumped);
  while (waiting().length > 0 && performance.now() < jumped + hangMs && !end.aborted) await pause(20, end);
  for (const userId of waiting()) {
    tally.breach(`user ${userId} got nothing done within ${hangMs / 1_000} s of a jump of the clock`);
  }
}
