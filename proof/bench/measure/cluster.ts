import { realWorld } from '../../../server/compose.ts';
import { natsMissing, startNats } from '../../../server/test/support/nats.ts';
import { postgresMissing, startPostgres } from '../../../server/test/support/postgres.ts';
import type { Load } from '../load.ts';
import { idleWhile, startOnSecondCore } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { freshEnvironment, type ParleyUnderTest, type Request, sendMessage, startParley } from '../parley.ts';
import type { Pace } from '../plan.ts';
import { load, median, type Side } from '../race.ts';

const bar = 1.5;
const connections = 64;

/** A machine with less to spare than this, or a lock that is busy for more, decides the race itself. */
const leastIdle = 0.1;
const mostLocked = 0.5;

interface Round {
  readonly loads: readonly Load[];
  readonly perSecond: number;
  readonly idle: number | undefined;
  /** The share of the time in which somebody held the event lock. */
  readonly locked: number;
}

/** Sends through one node, and through two that share PostgreSQL and NATS, in turn. */
export async function measureCluster(pace: Pace): Promise<Outcome[]> {
  const what = 'send_message, two nodes against one';
  const missing = postgresMissing ?? natsMissing;
  if (missing) return [{ kind: 'skipped', what, why: missing }];
  const [postgres, nats] = [await startPostgres({ fsync: true }), await startNats()];
  const shared = {
    DATABASE_URL: await postgres.emptyDatabase(),
    NATS_URL: nats.url,
    PARLEY_SECRET_KEY: Buffer.from(realWorld.random(32)).toString('base64'),
  };
  await using one = await startParley({ ...freshEnvironment(), ...shared });
  await using two = await startParley({ ...freshEnvironment(), ...shared }, startOnSecondCore);
  const users = await Promise.all(Array.from({ length: 4 }, (_, i) => one.user(`bench${i}`)));
  const participants = users.map(({ userId }) => userId);
  const requests: Request[] = [];
  for (const owner of users) {
    const others = participants.filter((id) => id !== owner.userId);
    const { group } = await owner.ok('messages.create_group', { name: 'Bench', participants: others });
    for (const user of users) requests.push(sendMessage(user, group.chat_id));
  }
  const run = (nodes: readonly ParleyUnderTest[]) =>
    round(nodes, () =>
      Promise.all(
        nodes.map((node) => load({ ...node.racer(requests), connections: connections / nodes.length }, pace.seconds)),
      ),
    );
  const rounds: { alone: Round; together: Round }[] = [];
  for (let i = 0; i <= pace.rounds; i++) rounds.push({ alone: await run([one]), together: await run([one, two]) });
  return [judge(what, rounds.slice(1))];
}

async function round(nodes: readonly ParleyUnderTest[], work: () => Promise<Load[]>): Promise<Round> {
  const [before, started] = [await lockHeld(nodes), performance.now()];
  const { result: loads, idle } = await idleWhile(work);
  const seconds = (performance.now() - started) / 1_000;
  const locked = ((await lockHeld(nodes)) - before) / seconds;
  return { loads, perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0), idle, locked };
}

async function lockHeld(nodes: readonly ParleyUnderTest[]): Promise<number> {
  const held = await Promise.all(
    nodes.map(async ({ port }) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/^parley_event_lock_held_seconds_total (\S+)$/m.exec(text)?.[1]);
    }),
  );
  return held.reduce((sum, seconds) => sum + seconds, 0);
}

const percent = (share: number) => `${Math.round(share * 100)}%`;

function judge(what: string, rounds: readonly { alone: Round; together: Round }[]): Outcome {
  const ratios = rounds.map(({ alone, together }) => together.perSecond / alone.perSecond);
  const of = (which: 'alone' | 'together') => rounds.map((both) => both[which]);
  const idle = (which: 'alone' | 'together') => median(of(which).map((r) => r.idle ?? Number.NaN));
  const locked = (which: 'alone' | 'together') => median(of(which).map((r) => r.locked));
  const isMachineFull = idle('together') < leastIdle;
  const isLockBusy = locked('together') >= mostLocked;
  return {
    kind: 'rates',
    what,
    bar,
    baseline: sideOf(of('alone')),
    contender: sideOf(of('together')),
    ratio: median(ratios),
    ratios,
    notes: [
      `event lock held ${percent(locked('alone'))} of the time by one, ${percent(locked('together'))} by two`,
      `cores idle ${percent(idle('alone'))} with one, ${percent(idle('together'))} with two`,
    ],
    noRoom: isMachineFull || isLockBusy ? [limits(isMachineFull, isLockBusy)] : undefined,
  };
}

const limits = (isMachineFull: boolean, isLockBusy: boolean): string =>
  [
    ...(isMachineFull ? ['the cores are the limit: nodes, PostgreSQL and the load generator share them'] : []),
    ...(isLockBusy ? ['the event lock is the limit: it is held until a commit is on disk'] : []),
  ].join(', and ');

const sideOf = (rounds: readonly Round[]): Side => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50Ms: median(rounds.map(({ loads }) => Math.max(...loads.map((l) => l.p50Ms)))),
  p99Ms: median(rounds.map(({ loads }) => Math.max(...loads.map((l) => l.p99Ms)))),
  serverBusy: undefined,
  loadBusy: undefined,
  cpuMicros: undefined,
  answers: rounds.reduce((sum, { loads }) => sum + loads.reduce((n, l) => n + l.answers, 0), 0),
});
