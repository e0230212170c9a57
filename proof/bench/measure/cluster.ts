import { natsMissing, startNats } from '../../../server/test/support/nats.ts';
import { postgresMissing, startPostgres } from '../../../server/test/support/postgres.ts';
import { idleWhile } from '../../harness/others.ts';
import { median, percent, sum } from '../../harness/report.ts';
import { environment, inParallel, makeGroup, makeUsers, secretKey } from '../../harness/stage.ts';
import type { Outcome } from '../outcome.ts';
import { Parley, type Request, sendMessage } from '../parley.ts';
import type { Pace } from '../plan.ts';
import { compare, load, type Round } from '../race.ts';

const bar = 1.5;
const connections = 64;

/** With fewer idle cores, or a lock that is held longer, the machine decides the race. */
const minIdle = 0.1;
const maxLocked = 0.5;

interface ClusterRound extends Round {
  readonly idle: number;
  /** The share of the time in which a server held the event lock. */
  readonly locked: number;
}

/** Sends through one node, and through two that share PostgreSQL and NATS, in turn. */
export async function measureCluster(pace: Pace): Promise<Outcome[]> {
  const what = 'send_message, two nodes against one';
  const missing = postgresMissing ?? natsMissing;
  if (missing) return [{ kind: 'skipped', what, why: missing }];
  const [postgres, nats] = [await startPostgres({ fsync: true }), await startNats()];
  const shared = { DATABASE_URL: await postgres.emptyDatabase(), NATS_URL: nats.url, PARLEY_SECRET_KEY: secretKey() };
  await using one = await Parley.start(environment(shared));
  await using two = await Parley.start(environment(shared), 1);
  const users = await makeUsers(one.admin, 'bench', 4);
  const requests: Request[] = [];
  await inParallel(1, users.length, async (n) => {
    const chat = await makeGroup(users[n] ?? users[0], users);
    requests.push(...users.map((user) => sendMessage(user, chat)));
  });
  const run = (nodes: readonly Parley[]) => runRound(nodes, requests, pace.seconds);
  const [alone, together]: [ClusterRound[], ClusterRound[]] = [[], []];
  for (let round = 0; round <= pace.rounds; round++) {
    alone.push(await run([one]));
    together.push(await run([one, two]));
  }
  return [judge(what, alone.slice(1), together.slice(1))];
}

async function runRound(
  nodes: readonly Parley[],
  requests: readonly Request[],
  seconds: number,
): Promise<ClusterRound> {
  const [before, started] = [await lockHeld(nodes), performance.now()];
  const share = { connections: connections / nodes.length };
  const { result: loads, idle = Number.NaN } = await idleWhile(() =>
    Promise.all(nodes.map((node) => load({ ...node.racer(requests), ...share }, seconds))),
  );
  const locked = ((await lockHeld(nodes)) - before) / ((performance.now() - started) / 1_000);
  return {
    perSecond: sum(loads, (one) => one.perSecond),
    p50Ms: Math.max(...loads.map((one) => one.p50Ms)),
    p99Ms: Math.max(...loads.map((one) => one.p99Ms)),
    answers: sum(loads, ({ answers }) => answers),
    idle,
    locked,
  };
}

async function lockHeld(nodes: readonly Parley[]): Promise<number> {
  const held = await Promise.all(
    nodes.map(async ({ url }) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^parley_event_lock_held_seconds_total (\S+)$/m.exec(text)?.[1]);
    }),
  );
  return sum(held, (seconds) => seconds);
}

function judge(what: string, alone: readonly ClusterRound[], together: readonly ClusterRound[]): Outcome {
  const both = (key: 'idle' | 'locked') => {
    const [one = Number.NaN, two = Number.NaN] = [alone, together].map((all) => median(all.map((round) => round[key])));
    return { one, two };
  };
  const [idle, locked] = [both('idle'), both('locked')];
  const limits = [
    ...(idle.two < minIdle ? ['the cores are the limit: nodes, PostgreSQL and the load generator share them'] : []),
    ...(locked.two >= maxLocked ? ['the event lock is the limit: it is held until a commit is on disk'] : []),
  ];
  return {
    kind: 'rates',
    what,
    bar,
    ...compare(alone, together),
    notes: [
      `event lock held ${percent(locked.one)} of the time by one, ${percent(locked.two)} by two`,
      `cores idle ${percent(idle.one)} with one, ${percent(idle.two)} with two`,
    ],
    noRoom: limits.length > 0 ? [limits.join(', and ')] : undefined,
  };
}
