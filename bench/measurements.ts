import type { Client } from '../server/test/support/client.ts';
import { freePort, postgresMissing, startPostgres } from '../server/test/support/postgres.ts';
import { measureCluster } from './cluster.ts';
import { measureDrain, measureLag, registerIdle } from './deliveries.ts';
import { measureFiles } from './files.ts';
import { fillChat, untilIndexed } from './fill.ts';
import { residentBytes, startOnServerCore, temporaryFolder, untilHealthy } from './machine.ts';
import {
  freshEnvironment,
  getMessages,
  type ParleyUnderTest,
  type Request,
  sendMessage,
  startBare,
  startParley,
} from './parley.ts';
import { median, type Pace, type RaceResult, race } from './race.ts';
import { measureStreams } from './streams.ts';

/** What came of a measurement: two rates side by side, a figure against its limit, or why there is neither. */
export type Outcome =
  | ({
      readonly kind: 'rates';
      readonly what: string;
      readonly bar: number;
      readonly notes: string[];
      /** Why this machine cannot tell whether the bar is reached. */
      readonly noRoom?: readonly string[] | undefined;
    } & RaceResult)
  | {
      readonly kind: 'figure';
      readonly what: string;
      readonly value: number;
      readonly unit: string;
      readonly bar: number;
    }
  | { readonly kind: 'skipped' | 'failed'; readonly what: string; readonly why: string };

type Measure = (pace: Pace) => Promise<Outcome[]>;

/** Every measurement, by the name that it is asked for. */
export const measurements: Readonly<Record<string, Measure>> = {
  'send-sqlite': (pace) => measureSend('send_message, SQLite', 0.5, freshEnvironment(), pace),
  'send-postgres': async (pace) => {
    const what = 'send_message, PostgreSQL';
    if (postgresMissing) return [{ kind: 'skipped', what, why: postgresMissing }];
    const postgres = await startPostgres({ fsync: true });
    return measureSend(what, 0.35, freshEnvironment(await postgres.freshDatabase()), pace);
  },
  'token-check': measureTokenCheck,
  get: measureGet,
  cliff: measureCliff,
  'drain-sqlite': (pace) => measureDrain('webhook backlog, SQLite', freshEnvironment(), Math.min(3, pace.rounds)),
  'drain-postgres': async (pace) => {
    const what = 'webhook backlog, PostgreSQL';
    if (postgresMissing) return [{ kind: 'skipped', what, why: postgresMissing }];
    const postgres = await startPostgres({ fsync: true });
    return measureDrain(what, freshEnvironment(await postgres.freshDatabase()), Math.min(3, pace.rounds));
  },
  lag: () => measureLag(freshEnvironment(), 3),
  'idle-webhooks': measureIdleWebhooks,
  files: (pace) => measureFiles(Math.min(3, pace.rounds)),
  streams: (pace) => measureStreams(pace.rounds),
  cluster: measureCluster,
  start: measureStart,
};

/** Durable sends by several users into several chats, against a server that parses the same and answers the same. */
async function measureSend(what: string, bar: number, env: Record<string, string>, pace: Pace): Promise<Outcome[]> {
  await using parley = await startParley(env);
  const users = await makeUsers(parley, 4);
  const chats = await Promise.all(users.map((owner) => makeChat(owner, users)));
  const requests = chats.flatMap((chat) => users.map((user) => sendMessage(user, chat)));
  await using bare = await startBare(await parley.answer(first(requests)));
  const before = await countMessages(parley);
  const waits: number[] = [];
  const contender = parley.racer(requests);
  const result = await race(
    { ...contender, ...bare },
    contender,
    pace,
    async () => void waits.push(await untilIndexed(parley.engine)),
  );
  const written = (await countMessages(parley)) - before;
  if (written !== result.contender.answers) {
    throw new Error(`${result.contender.answers} sends were accepted and ${written} messages written`);
  }
  const notes = [
    `${written} sends accepted, ${written} messages in the database`,
    `the search index needed ${median(waits).toFixed(2)} s after a round to catch up`,
  ];
  return [{ kind: 'rates', what, bar, notes, ...result }];
}

/** What it costs to know the caller, as a share of the processor time of all the rest of a send. */
async function measureTokenCheck(pace: Pace): Promise<Outcome[]> {
  const env = freshEnvironment();
  await using parley = await startParley(env);
  const users = await makeUsers(parley, 16);
  const chat = await makeChat(first(users), users);
  const racer = parley.racer(users.map((user) => sendMessage(user, chat)));
  const { contender } = await race(racer, racer, pace);
  const file = `${temporaryFolder()}/micros`;
  const job = { ...env, TOKENS: users.map((user) => user.token).join(' '), OUT: file };
  await using checking = startOnServerCore(['bench/token-check.ts'], job);
  while (!checking.hasEnded) await Bun.sleep(50);
  if (!(await Bun.file(file).exists())) checking.check();
  const check = Number(await Bun.file(file).text());
  const send = contender.cpuMicros ?? Number.NaN;
  const what = `token check, ${check.toFixed(2)} µs of ${send.toFixed(0)} µs for a send`;
  return [{ kind: 'figure', what, value: (100 * check) / (send - check), unit: '%', bar: 5 }];
}

const idleWebhooks = 10_000;

/** Sends to a server with many webhooks that do not match, against the same server without. */
async function measureIdleWebhooks(pace: Pace): Promise<Outcome[]> {
  await using without = await startParley(freshEnvironment());
  await using beside = await startParley(freshEnvironment());
  const racer = async (parley: ParleyUnderTest, webhooks: number) => {
    const users = await makeUsers(parley, 4);
    const chat = await makeChat(first(users), users);
    await registerIdle(parley, first(users), webhooks);
    return parley.racer(users.map((user) => sendMessage(user, chat)));
  };
  const result = await race(await racer(without, 0), await racer(beside, idleWebhooks), pace);
  const what = `sends beside ${idleWebhooks} webhooks that do not match`;
  return [{ kind: 'rates', what, bar: 0.93, notes: [], ...result }];
}

/** The page that the server keeps in memory while nothing changes, and pages that it reads for each request. */
async function measureGet(pace: Pace): Promise<Outcome[]> {
  await using parley = await startParley(freshEnvironment());
  const [pages] = await pagesOf(parley, [1_000]);
  if (!pages) throw new Error('there is no chat');
  return [
    await measurePage(parley, 'get_messages of 50, newest, kept', pages.kept, pace),
    await measurePage(parley, 'get_messages of 50, middle, read', pages.middle, pace),
  ];
}

async function measurePage(
  parley: ParleyUnderTest,
  what: string,
  requests: readonly Request[],
  pace: Pace,
): Promise<Outcome> {
  const answer = await parley.answer(first(requests));
  await using bare = await startBare(answer);
  const contender = parley.racer(requests);
  const result = await race({ ...contender, ...bare }, contender, pace);
  const notes = [`an answer has ${Buffer.byteLength(answer.body)} bytes`];
  return { kind: 'rates', what, bar: 0.25, notes, ...result };
}

/** A page of a long chat against the same page of a short one, on the same server: the cost must not grow. */
async function measureCliff(pace: Pace): Promise<Outcome[]> {
  await using parley = await startParley(freshEnvironment());
  const [short, long] = await pagesOf(parley, [1_000, 1_000_000]);
  if (!short || !long) throw new Error('there are no two chats');
  const outcomes: Outcome[] = [];
  for (const page of ['newest', 'oldest'] as const) {
    const result = await race(parley.racer(short[page]), parley.racer(long[page]), pace);
    outcomes.push({
      kind: 'rates',
      what: `${page} 50 of 1,000,000 against of 1,000`,
      bar: 1 / 1.3,
      notes: [],
      ...result,
    });
  }
  return outcomes;
}

const starts = 5;
const idleMs = 3_000;

async function measureStart(): Promise<Outcome[]> {
  const env = freshEnvironment();
  {
    await using parley = await startParley(env);
    await pagesOf(parley, [100_000]);
  }
  const seconds: number[] = [];
  let resident: number | undefined;
  for (let i = 0; i < starts; i++) {
    const port = await freePort();
    const began = performance.now();
    await using child = startOnServerCore(['server/main.ts'], { ...env, PORT: String(port) });
    await untilHealthy(child, port);
    seconds.push((performance.now() - began) / 1_000);
    if (i < starts - 1) continue;
    await Bun.sleep(idleMs);
    resident = residentBytes(child.pid);
  }
  const what = 'idle resident memory';
  return [
    { kind: 'figure', what: 'start until /healthz answers', value: median(seconds), unit: 's', bar: 0.5 },
    resident === undefined
      ? { kind: 'skipped', what, why: 'only Linux tells it' }
      : { kind: 'figure', what, value: resident / 1e6, unit: 'MB', bar: 80 },
  ];
}

const makeUsers = (parley: ParleyUnderTest, count: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => parley.user(`bench-${i}`)));

async function makeChat(owner: Client, participants: readonly Client[]): Promise<number> {
  const others = participants.filter((p) => p !== owner).map((p) => p.userId);
  return (await owner.ok('messages.create_group', { name: 'bench', participants: others })).group.chat_id;
}

/** What the readers of a chat ask for. All but `kept` give bounds: such pages the server reads from the database. */
interface Pages {
  readonly kept: Request[];
  readonly newest: Request[];
  /** Each request for another page. */
  readonly middle: Request[];
  readonly oldest: Request[];
}

const middlePages = 400;

/** Makes a chat of each size, and gives the pages of each. */
async function pagesOf(parley: ParleyUnderTest, sizes: readonly number[]): Promise<Pages[]> {
  const users = await makeUsers(parley, 4);
  const owner = first(users);
  const chats: Pages[] = [];
  for (const size of sizes) {
    const chat = await makeChat(owner, users);
    await fillChat(parley.engine, owner, chat, size);
    const newest = await newestMessage(parley, chat);
    const before = (id: number) => ({ before_id: String(id) });
    const ask = (bounds?: Record<string, string>) => users.map((user) => getMessages(user, chat, bounds));
    chats.push({
      kept: ask(),
      newest: ask(before(newest + 1)),
      middle: Array.from({ length: middlePages / users.length }, (_, i) =>
        users.map((u, j) => getMessages(u, chat, before(newest - (size - middlePages) / 2 - i * users.length - j))),
      ).flat(),
      oldest: ask({ after_id: '0' }),
    });
  }
  return chats;
}

async function newestMessage({ engine }: ParleyUnderTest, chatId: number): Promise<number> {
  const sql = 'SELECT max(message_id) AS id FROM messages WHERE chat_id = $1';
  return (await engine.get<{ id: number }>(sql, chatId))?.id ?? 0;
}

async function countMessages({ engine }: ParleyUnderTest): Promise<number> {
  return (await engine.get<{ n: number }>('SELECT count(*) AS n FROM messages'))?.n ?? 0;
}

function first<T>(list: readonly T[]): T {
  const [one] = list;
  if (one === undefined) throw new Error('the list is empty');
  return one;
}
