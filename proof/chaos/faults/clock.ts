import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { stream } from '../../harness/random.ts';
import { hangMs, pause, waitUntil } from '../../harness/wait.ts';
import { endpointOf, type Scenario, type Scene } from '../scenario.ts';
import { lockedOut } from '../verdicts.ts';

/** The largest error of the clock, either way: less than the retention of a day. */
const maxHours = 10;

/** An endpoint is away for so long before each jump, so that a retry is due at a time of the old clock. */
const awayMs = 700;

/** Debian installs the library that shows a process another time here. */
function findLibrary(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name)) : [];
  return ['/usr/lib', '/usr/local/lib', ...folders]
    .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
    .find((file) => existsSync(file));
}

const library = findLibrary();

/** Sets the offset from the true time. The library reads it whenever the process reads the clock. */
function setClock(file: string, seconds: number): void {
  writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  renameSync(`${file}.new`, file);
}

export const clock: Scenario<'jumps'> = {
  summary: 'the clock of the server jumps by hours, forwards and back',
  seconds: 30,
  settings: { jumps: { summary: 'jumps, by turns forwards and back', fallback: 8 } },
  inapplicable: () => (library ? undefined : 'It needs libfaketime: apt-get install faketime'),
  prepare: async () => {
    const file = join(temporaryFolder(), 'clock');
    setClock(file, 0);
    return {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Timers follow the monotonic clock, as they do on a real machine.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      PARLEY_RATE_LIMIT: '50/200',
    };
  },
  disturb: async (scene, { jumps }, end) => {
    const random = stream(scene.seed, 'jumps');
    const file = scene.environments[0]?.FAKETIME_TIMESTAMP_FILE ?? '';
    const endpoint = endpointOf(scene, 'one chat');
    for (let i = 0; i < jumps && !end.aborted; i++) {
      const isForwards = i % 2 === 0;
      const hours = maxHours * random();
      await pause((scene.ms / jumps) * random(), end);
      await endpoint.close();
      await pause(awayMs, end);
      setClock(file, Math.round((isForwards ? hours : -hours) * 3_600));
      await endpoint.open();
      scene.tally.count(isForwards ? 'jumps of the clock forwards' : 'jumps of the clock back');
      await untilEverybodySucceeds(scene, end);
    }
  },
};

/** Waits until every user succeeds: no rate limit and no expired token may lock a user out. */
async function untilEverybodySucceeds({ stage, calls, tally }: Scene, end: AbortSignal): Promise<void> {
  const jumped = performance.now();
  const userIds = stage.writers.map(({ userId }) => userId);
  const waiting = () => lockedOut(userIds, calls.lastSuccess, jumped);
  await waitUntil(() => waiting().length === 0, { end });
  for (const userId of end.aborted ? [] : waiting()) {
    tally.breach(`no call of user ${userId} succeeded within ${hangMs / 1_000} s of a jump of the clock`);
  }
}
