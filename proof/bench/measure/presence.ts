import type { Client } from '../../../server/test/support/client.ts';
import { countCpu } from '../../harness/machine.ts';
import { figure, median } from '../../harness/report.ts';
import { doubtsAboutPace } from '../doubt.ts';
import type { EngineMeasure } from '../engines.ts';
import { Baseline, type Parley } from '../parley.ts';
import type { Sizes } from '../plan.ts';
import { addPeople, openListeners, streamRequest } from './listeners.ts';

/** Percent of one core. */
const bar = 3;

/** Users that one `users.presence` asks for. */
const page = 200;

/**
 * Thousands of users are connected, and some change their presence. The bar is for presence itself: what as many calls take that
 * change nothing is left out, and told beside it, as is what a bare server takes for the same calls and arrivals.
 */
export const measurePresence: EngineMeasure = async ({ title, start }, { rounds, sizes }) => {
  const { streams: count, presencePerSecond: perSecond, presenceWatchers: watchers } = sizes;
  const what = `${perSecond} changes of presence a second among ${figure(count)} users, ${watchers} watchers each, ${title}`;
  await using parley = await start();
  const owner = await parley.user('bench');
  const people = await addPeople(parley, count);
  const groupCount = Math.ceil(count / (watchers + 1));
  // Users who change one after the other are in different groups.
  const groups = Array.from({ length: groupCount }, (_, i) => people.filter((_, n) => n % groupCount === i));
  for (const group of groups) {
    const participants = group.map(({ userId }) => userId);
    await owner.ok('messages.create_group', { name: 'Group', participants });
  }
  const listeners = await openListeners(
    parley.port,
    people.map(({ token }) => streamRequest('/api/events.php?action=stream', `Authorization: Bearer ${token}`)),
  );
  await untilOnline(
    owner,
    people.map(({ userId }) => userId),
  );
  await Bun.sleep(sizes.idleMs);
  const rows: { total: number; calls: number; arrivals: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const idle = await busyDuring(parley.pid, sizes, async () => {});
    const call = (presence: string) => (n: number) =>
      say(parley, people[(n + round * perRound(sizes)) % count]?.token ?? '', presence);
    const calling = await busyDuring(parley.pid, sizes, call('online'));
    const told = listeners.count('presence_changed');
    const changing = await busyDuring(parley.pid, sizes, call('away'));
    if (idle === undefined || calling === undefined || changing === undefined) {
      return [{ kind: 'skipped', what, why: 'needs Linux' }];
    }
    rows.push({ total: changing - idle, calls: calling - idle, arrivals: told() / sizes.presenceSeconds });
  }
  // One after the other: a process may not have as many connections as both need.
  listeners.close();
  const floor = await bareShare(groupCount, people.length, rounds, sizes);
  // The first round only warms up.
  const middle = (of: (row: (typeof rows)[number]) => number) => median(rows.slice(1).map(of));
  const arrivals = middle((row) => row.arrivals);
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  return [
    {
      kind: 'figure',
      what,
      value: middle((row) => row.total - row.calls) * 100,
      unit: '% of a core',
      bar,
      notes: [
        `${figure(Math.round(arrivals))} arrivals a second; with the calls ${percent(middle((row) => row.total))}, as many calls that ` +
          `change nothing ${percent(middle((row) => row.calls))}; a bare server takes ${percent(floor)} for calls and arrivals`,
      ],
      doubts: doubtsAboutPace('the streams', arrivals, perSecond * (watchers + 1)),
    },
  ];
};

const perRound = ({ presencePerSecond, presenceSeconds }: Sizes) => Math.round(presencePerSecond * presenceSeconds);

/** Returns the share of a core that a server takes which only writes each change to as many of its streams. */
async function bareShare(every: number, count: number, rounds: number, sizes: Sizes): Promise<number> {
  await using bare = await Baseline.start('streams');
  const requests = Array.from({ length: count }, () => streamRequest('/stream'));
  const listeners = await openListeners(bare.port, requests);
  const signal = { user_id: count, presence: 'away' };
  const body = `event: presence_changed\ndata: ${JSON.stringify(signal)}\n\n`;
  const tell = () => fetch(`http://127.0.0.1:${bare.port}/tell?every=${every}`, { method: 'POST', body });
  const shares: number[] = [];
  for (let round = 0; round <= rounds; round++) shares.push((await busyDuring(bare.pid, sizes, tell)) ?? 0);
  listeners.close();
  return median(shares.slice(1));
}

/** Returns the share of a core that the server takes while something is done at the rate of the changes. */
async function busyDuring(
  pid: number,
  sizes: Sizes,
  act: (n: number) => Promise<unknown>,
): Promise<number | undefined> {
  const started = performance.now();
  const busy = countCpu(pid);
  const acts: Promise<unknown>[] = [];
  for (let n = 0; n < perRound(sizes); n++) {
    await Bun.sleep(Math.max(0, started + (n * 1_000) / sizes.presencePerSecond - performance.now()));
    acts.push(act(n));
  }
  await Promise.all(acts);
  // The last changes are told after a moment.
  await Bun.sleep(Math.max(0, started + sizes.presenceSeconds * 1_000 + 300 - performance.now()));
  const seconds = busy();
  return seconds && (seconds * 1_000) / (performance.now() - started);
}

async function say({ url }: Parley, token: string, presence: string): Promise<void> {
  const response = await fetch(`${url}/api/users.php?action=set_presence`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ presence }),
  });
  if (response.status !== 200) throw new Error(`set_presence: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** Waits until everybody is told to be online. */
async function untilOnline(owner: Client, userIds: readonly number[]): Promise<void> {
  for (let first = 0; first < userIds.length; ) {
    const user_ids = userIds.slice(first, first + page);
    const { presence } = await owner.ok('users.presence', { user_ids });
    if (presence.every((one) => one.presence === 'online')) first += page;
    else await Bun.sleep(100);
  }
}
