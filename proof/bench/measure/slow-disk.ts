import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { doubtsAboutPace } from '../doubt.ts';
import type { Load } from '../load.ts';

import type { Outcome } from '../outcome.ts';
import { freshEnvironment, sendMessage, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { load, median } from '../race.ts';
import { first, makeChat, makeFilledChat, makeUsers, pagesOf } from '../scene.ts';

const syncMs = 10;
const bar = 3;

/** Of each: enough that there is always something to write, and as many reads as leave room. */
const sending = 16;
const reads = { connections: 16, perSecond: 500 };

/**
 * Pages read at a fixed rate while others send, on a disk that takes long for each commit, against the same without sends:
 * whoever only reads is not to wait for the disk.
 */
export async function measureSlowDisk(plan: Plan): Promise<Outcome[]> {
  const what = `get_messages beside sends where a sync takes ${syncMs} ms, SQLite, p99`;
  const shim = buildShim();
  if ('missing' in shim) return [{ kind: 'skipped', what, why: shim.missing }];
  const env = { ...freshEnvironment(), LD_PRELOAD: shim.file, SLOW_SYNC_MS: String(syncMs) };
  await using parley = await startParley(env);
  const users = await makeUsers(parley, 4);
  const { kept, middle } = await pagesOf(parley, users, await makeFilledChat(parley, users, plan.sizes.chat));
  const reading = { ...parley.racer([...kept, ...middle]), ...reads };
  const other = await makeChat(first(users), users);
  const writing = { ...parley.racer(users.map((user) => sendMessage(user, other))), connections: sending };

  await Promise.all([load(reading, plan.warmUpSeconds), load(writing, plan.warmUpSeconds)]);
  const rounds: { alone: Load; beside: Load; sends: Load }[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const alone = await load(reading, plan.seconds);
    const [beside, sends] = await Promise.all([load(reading, plan.seconds), load(writing, plan.seconds)]);
    rounds.push({ alone, beside, sends });
  }
  const ms = (loads: readonly Load[]) =>
    [loads.map((l) => l.p50Ms), loads.map((l) => l.p99Ms)].map((times) => median(times).toFixed(2)).join(' / ');
  const answered = (which: 'alone' | 'beside') => median(rounds.map((round) => round[which].perSecond));
  return [
    {
      kind: 'figure',
      what,
      value: median(rounds.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms)),
      unit: '× without sends',
      bar,
      notes: [
        `p50 / p99 are ${ms(rounds.map((r) => r.beside))} ms beside sends and ${ms(rounds.map((r) => r.alone))} ms without`,
        `${Math.round(median(rounds.map((r) => r.sends.perSecond)))} sends a second, ${ms(rounds.map((r) => r.sends))} ms`,
      ],
      doubts: [
        ...doubtsAboutPace('without sends the server', answered('alone'), reads.perSecond),
        ...doubtsAboutPace('beside sends the server', answered('beside'), reads.perSecond),
      ],
    },
  ];
}

function buildShim(): { readonly file: string } | { readonly missing: string } {
  const compiler = Bun.which('cc');
  if (process.platform !== 'linux' || !compiler) return { missing: 'needs Linux and a C compiler (cc)' };
  const file = join(temporaryFolder(), 'slow-sync.so');
  const source = join(import.meta.dir, '../bare/slow-sync.c');
  const built = Bun.spawnSync([compiler, '-shared', '-fPIC', '-O2', '-o', file, source, '-ldl']);
  return built.success ? { file } : { missing: `cc failed: ${built.stderr}` };
}
