import { postgresMissing, startPostgres } from '../../../server/test/support/postgres.ts';
import { cpuSeconds, pinned, startOnServerCore } from '../../harness/machine.ts';
import { treeSeconds } from '../../harness/others.ts';
import { Receiver } from '../../harness/receiver.ts';
import { median } from '../../harness/report.ts';
import { environment } from '../../harness/stage.ts';
import { makeChats, secret, untilIndexed } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import { content, Parley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { prepareInserts } from './bare-insert.ts';
import { makeDelivery } from './drain.ts';
import { at50, at99, lagsOf } from './lag.ts';

const bar = 2;
const perSecond = 200;
const maxRounds = 3;
const where = `at ${perSecond}/s, PostgreSQL on the server's core`;

interface LagRound {
  readonly loop: readonly number[];
  readonly parley: readonly number[];
  /** Processor time of a message and its delivery. */
  readonly serverMicros: number;
  readonly postgresMicros: number;
}

/**
 * Measures from the request to the arrival at the endpoint of the only webhook, while PostgreSQL shares the server's core. A
 * loop that inserts, commits and posts, on the same core and database, is the least that any server takes.
 */
export async function measureLagFloor({ sizes, rounds }: Plan): Promise<Outcome[]> {
  const why = postgresMissing ?? (pinned ? undefined : 'needs two cores and taskset');
  if (why !== undefined) return [{ kind: 'skipped', what: `webhook lag ${where}`, why }];
  await using stack = new AsyncDisposableStack();
  const postgres = await startOnServerCore(() => startPostgres({ fsync: true }));
  stack.defer(() => postgres.stop('fast'));
  const parley = stack.use(await Parley.start(environment({ DATABASE_URL: await postgres.emptyDatabase() })));
  const receiver = stack.use(new Receiver());
  await receiver.open();
  const ada = await parley.user('bench');
  const chats = await makeChats(ada, 16);
  const registration = { url: receiver.url, events: ['new_message'], secret };
  const { webhook_id } = (await ada.ok('webhooks.register', registration)).webhook;
  await ada.ok('messages.send_message', { chat_id: chats[0] ?? 0, content });
  const runInserts = await prepareInserts(parley);
  const post = { url: receiver.url, ...makeDelivery(webhook_id), perSecond };
  const file = await parley.engine.get<{ text: string }>(`SELECT pg_read_file('postmaster.pid') AS text`);
  const postgresPid = Number.parseInt(file?.text ?? '', 10);
  const cpu = () => ({ server: cpuSeconds(parley.pid) ?? Number.NaN, postgres: treeSeconds(postgresPid) });

  const runLoop = async () => {
    receiver.arrivals.length = 0;
    await runInserts({ seconds: sizes.lagSeconds, batch: 1, writers: 1, post });
    const measured = receiver.arrivals.slice(-sizes.lagSeconds * perSecond);
    const lag = ({ receivedAtMs, header }: (typeof measured)[number]) =>
      performance.timeOrigin + receivedAtMs - Number(header('x-began'));
    return measured.map(lag).sort((a, b) => a - b);
  };
  const runRound = async (): Promise<LagRound> => {
    const loop = await runLoop();
    const before = cpu();
    const lags = await lagsOf(ada, chats, receiver, { perSecond, seconds: sizes.lagSeconds, from: 'request' });
    await untilIndexed(parley.engine);
    const after = cpu();
    const micros = (who: 'server' | 'postgres') => ((after[who] - before[who]) / lags.length) * 1e6;
    return { loop, parley: lags, serverMicros: micros('server'), postgresMicros: micros('postgres') };
  };
  // The first round only warms up.
  await runRound();
  const measured: LagRound[] = [];
  while (measured.length < Math.min(maxRounds, rounds)) measured.push(await runRound());
  return judge(measured);
}

function judge(rounds: readonly LagRound[]): Outcome[] {
  const of = (value: (round: LagRound) => number) => median(rounds.map(value));
  const compared = (name: string, at: (sorted: readonly number[]) => number): Outcome => ({
    kind: 'figure',
    what: `webhook lag ${name} ${where}`,
    value: of(({ loop, parley }) => at(parley) / at(loop)),
    unit: '× the loop',
    bar,
    notes: [`${of(({ parley }) => at(parley)).toFixed(2)} ms, of the loop ${of(({ loop }) => at(loop)).toFixed(2)} ms`],
  });
  const [server, postgres] = [of(({ serverMicros }) => serverMicros), of(({ postgresMicros }) => postgresMicros)];
  return [
    compared('p50', at50),
    compared('p99', at99),
    {
      kind: 'figure',
      what: `CPU of a message and its delivery ${where}`,
      value: (server + postgres) / 1_000,
      unit: 'ms',
      bar: undefined,
      notes: [`the server ${server.toFixed(0)} µs, PostgreSQL ${postgres.toFixed(0)} µs`],
    },
  ];
}
