import { hashToken, newSecret } from '../../../server/auth/access-token.ts';
import { realWorld } from '../../../server/compose.ts';
import { insertToken } from '../../../server/store/tokens.ts';
import { insertUser } from '../../../server/store/users.ts';
import { freePort } from '../../../server/test/support/postgres.ts';
import { type EngineName, engineTitles, onEngine } from '../engines.ts';
import { cpuSeconds, residentBytes, startOnServerCore, untilHealthy } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { type ParleyUnderTest, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, type Side } from '../race.ts';
import { Listeners } from './listeners.ts';

const memoryBar = 150;
const secondsBar = 1;

/** How much of a bare server's pace is asked for. */
const bar = 0.5;

interface Told {
  readonly seconds: number;
  readonly cpu: number;
}

/** Thousands of people listen to one chat, each with a stream of their own, and a message reaches all of them. */
export function measureStreams(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `a message to many streams, ${title}`, async (fresh) => streams(title, await fresh(), plan));
}

async function streams(title: string, env: Record<string, string>, { rounds, sizes }: Plan): Promise<Outcome[]> {
  const count = sizes.streams;
  const many = `${count.toLocaleString('en')} streams`;
  await using parley = await startParley(env);
  const port = await freePort();
  await using bare = startOnServerCore(['proof/bench/bare/streams.ts'], { PORT: String(port) });
  await untilHealthy(bare, port);
  const owner = await parley.user('bench');
  const tokens = await addPeople(parley, count);
  const { chat_id } = (await owner.ok('messages.create_group', { name: 'All', participants: [] })).group;
  for (let first = 0; first < count; first += 1_000) {
    const participants = tokens.slice(first, first + 1_000).map(({ userId }) => userId);
    await owner.ok('chats.add_participants', { chat_id, participants });
  }
  const requests = tokens.map(({ token }) =>
    ['GET /api/events.php?action=stream HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${token}`, '\r\n'].join(
      '\r\n',
    ),
  );
  const before = (residentBytes(parley.pid) ?? 0) / 2 ** 20;
  const ours = await Listeners.open(parley.port, requests);
  await Bun.sleep(sizes.idleMs);
  const memory = (residentBytes(parley.pid) ?? 0) / 2 ** 20;
  let frame = '';
  const mine = await tellRounds(rounds, parley.pid, ours, async (content) => {
    const { message } = await owner.ok('messages.send_message', { chat_id, content });
    frame = `id: 1\nevent: new_message\ndata: ${JSON.stringify({ message })}\n\n`;
  });
  // One after the other: a process may not have so many connections as both need.
  ours.close();
  const theirs = await Listeners.open(
    port,
    requests.map(() => 'GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  );
  const url = `http://127.0.0.1:${port}/tell`;
  const last = markOf(rounds);
  const tell = (mark: string) => fetch(url, { method: 'POST', body: frame.replace(last, mark) });
  const bareOnes = await tellRounds(rounds, bare.pid, theirs, tell);
  theirs.close();
  const ratios = mine.map((told, i) => (bareOnes[i]?.seconds ?? 0) / told.seconds);
  const slowest = Math.max(...mine.map(({ seconds }) => seconds));
  return [
    {
      kind: 'rates',
      what: `a message to ${many}, arrivals, ${title}`,
      bar,
      baseline: sideOf(bareOnes, count),
      contender: sideOf(mine, count),
      ratio: median(ratios),
      ratios,
      notes: [`from the call to the last of ${count} streams; memory before the streams ${before.toFixed(0)} MB`],
    },
    { kind: 'figure', what: `a message to ${many}, the slowest, ${title}`, value: slowest, unit: 's', bar: secondsBar },
    { kind: 'figure', what: `memory with ${many}, idle, ${title}`, value: memory, unit: 'MB', bar: memoryBar },
  ];
}

const markOf = (round: number) => `round ${round} of the bench`;

/** The first round only warms up. */
async function tellRounds(
  rounds: number,
  pid: number,
  listeners: Listeners,
  tell: (mark: string) => Promise<unknown>,
): Promise<Told[]> {
  const told: Told[] = [];
  for (let round = 0; round <= rounds; round++) {
    const mark = markOf(round);
    told.push(await timed(pid, () => listeners.hear(mark, () => tell(mark))));
  }
  return told.slice(1);
}

/** From beside the server: through it they would take a minute. */
async function addPeople({ engine }: ParleyUnderTest, count: number): Promise<{ userId: number; token: string }[]> {
  const at = Date.now();
  return engine.write(async (tx) => {
    const people: { userId: number; token: string }[] = [];
    for (let i = 0; i < count; i++) {
      const name = `listener${i}`;
      const user = await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at });
      if (!user) throw new Error(`there is a ${name} already`);
      const token = newSecret('personal', realWorld.random);
      await insertToken(tx, {
        userId: user.user_id,
        kind: 'personal',
        parentId: null,
        appId: 0,
        grantId: null,
        name: 'bench',
        hash: hashToken(token),
        scopes: 'messages:read',
        at,
        expiresAt: null,
      });
      people.push({ userId: user.user_id, token });
    }
    return people;
  });
}

async function timed(pid: number, work: () => Promise<unknown>): Promise<Told> {
  const [started, cpu] = [performance.now(), cpuSeconds(pid) ?? 0];
  await work();
  return { seconds: (performance.now() - started) / 1_000, cpu: (cpuSeconds(pid) ?? 0) - cpu };
}

const sideOf = (all: readonly Told[], count: number): Side => ({
  perSecond: count / median(all.map(({ seconds }) => seconds)),
  p50Ms: 0,
  p99Ms: 0,
  serverBusy: median(all.map(({ seconds, cpu }) => cpu / seconds)),
  loadBusy: undefined,
  cpuMicros: undefined,
  answers: all.length,
});
