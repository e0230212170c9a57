import { join } from 'node:path';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { median } from '../../harness/report.ts';
import { environment, makeGroup } from '../../harness/stage.ts';
import { doubtsAboutPace } from '../doubt.ts';
import { pagesOf, usersWithFilledChat } from '../fixtures.ts';
import type { Load } from '../load.ts';
import type { Outcome } from '../outcome.ts';
import { Parley, sendMessage } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { load } from '../race.ts';

const syncMs = 10;
const bar = 3;

/** Enough senders that there is always something to write, and as many reads as leave room. */
const senders = 16;
const reads = { connections: 16, perSecond: 500 };

/** Reads pages at a fixed rate beside sends, on a disk that is slow to sync, and without sends: readers must not wait for the disk. */
export async function measureSlowDisk(plan: Plan): Promise<Outcome[]> {
  const what = `get_messages beside sends where a sync takes ${syncMs} ms, SQLite, p99`;
  const shim = buildShim();
  if ('missing' in shim) return [{ kind: 'skipped', what, why: shim.missing }];
  await using parley = await Parley.start(environment({ LD_PRELOAD: shim.file, SLOW_SYNC_MS: String(syncMs) }));
  const { users, chat } = await usersWithFilledChat(parley, plan.sizes.chat);
  const { kept, middle } = await pagesOf(parley, users, chat);
  const reading = { ...parley.racer([...kept, ...middle]), ...reads };
  const other = await makeGroup(users[0], users);
  const writing = { ...parley.racer(users.map((user) => sendMessage(user, other))), connections: senders };

  await Promise.all([load(reading, plan.warmUpSeconds), load(writing, plan.warmUpSeconds)]);
  const [alone, beside, sends]: [Load[], Load[], Load[]] = [[], [], []];
  for (let round = 0; round < plan.rounds; round++) {
    alone.push(await load(reading, plan.seconds));
    const [read, sent] = await Promise.all([load(reading, plan.seconds), load(writing, plan.seconds)]);
    beside.push(read);
    sends.push(sent);
  }
  const of = (loads: readonly Load[], key: 'p50Ms' | 'p99Ms' | 'perSecond') => median(loads.map((one) => one[key]));
  const ms = (loads: readonly Load[]) => `${of(loads, 'p50Ms').toFixed(2)} / ${of(loads, 'p99Ms').toFixed(2)}`;
  return [
    {
      kind: 'figure',
      what,
      value: median(beside.map(({ p99Ms }, i) => p99Ms / (alone[i]?.p99Ms ?? Number.NaN))),
      unit: '× without sends',
      bar,
      notes: [
        `p50 / p99 are ${ms(beside)} ms beside sends and ${ms(alone)} ms without`,
        `${Math.round(of(sends, 'perSecond'))} sends a second, ${ms(sends)} ms`,
      ],
      doubts: [
        ...doubtsAboutPace('without sends the server', of(alone, 'perSecond'), reads.perSecond),
        ...doubtsAboutPace('beside sends the server', of(beside, 'perSecond'), reads.perSecond),
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
