import type { Client } from '../../../../server/test/support/client.ts';
import { type EngineName, engineTitles, type FreshServer, onEngine } from '../../engines.ts';
import { untilIndexed } from '../../fill.ts';
import { cpuSeconds } from '../../machine.ts';
import type { Curve, Outcome, Point } from '../../outcome.ts';
import { type ParleyUnderTest, sendMessage, startParley } from '../../parley.ts';
import type { Plan } from '../../plan.ts';
import { median } from '../../race.ts';
import { atOnce, first, makeChat, makeChats, makeUsers, secret } from '../../scene.ts';
import { registerIdle } from '../idle-webhooks.ts';
import { Arrivals, at50, at99, lagsOf } from '../lag.ts';
import { bar, doubtsAboutRounds, measureCurve } from './curve.ts';

/** Webhooks grow in number: those that a message does not concern, and those of which each gets its share. */
export function measureWebhookGrowth(engine: EngineName, plan: Plan): Promise<Outcome[]> {
  const title = engineTitles[engine];
  return onEngine(engine, `more webhooks, ${title}`, async (fresh) => [
    await besideIdle(title, fresh, plan),
    await sharingDeliveries(title, fresh, plan),
  ]);
}

async function besideIdle(title: string, fresh: FreshServer, plan: Plan): Promise<Curve> {
  await using servers = new AsyncDisposableStack();
  const racers = [];
  for (const x of plan.sizes.growth.webhooks) {
    const parley = servers.use(await startParley(await fresh()));
    const users = await makeUsers(parley, 4);
    const chat = await makeChat(first(users), users);
    await registerIdle(parley, first(users), x);
    const afterRound = async () => void (await untilIndexed(parley.engine));
    racers.push({ x, racer: { ...parley.racer(users.map((user) => sendMessage(user, chat))), afterRound } });
  }
  const what = `send_message beside webhooks that do not match, ${title}`;
  return await measureCurve({ what, along: 'webhooks', racers }, plan);
}

interface Server {
  readonly x: number;
  readonly parley: ParleyUnderTest;
  readonly sender: Client;
  readonly chats: readonly number[];
  readonly rounds: { lags: number[]; micros: number }[];
}

/**
 * As many deliveries a second in all, shared by more and more webhooks, each of a chat of its own. What must not grow is the
 * processor time for one, from the send to the delivery's end; the lag is told beside it.
 */
async function sharingDeliveries(title: string, fresh: FreshServer, plan: Plan): Promise<Curve> {
  await using disposables = new AsyncDisposableStack();
  const arrivals = disposables.use(new Arrivals());
  const servers: Server[] = [];
  for (const x of plan.sizes.growth.webhooks) {
    const parley = disposables.use(await startParley(await fresh()));
    const sender = await parley.user('bench');
    const chats = await makeChats(sender, x);
    await atOnce(16, x, async (n) => {
      const webhook = { url: arrivals.url, events: ['new_message'], secret, chat_id: chats[n] ?? 0 };
      await sender.ok('webhooks.register', webhook);
    });
    servers.push({ x, parley, sender, chats, rounds: [] });
  }
  const pace = { perSecond: plan.sizes.lagPerSecond, seconds: plan.sizes.lagSeconds };
  // The first round only warms up.
  for (let round = 0; round <= plan.rounds; round++) {
    for (const { parley, sender, chats, rounds } of servers) {
      const before = cpuSeconds(parley.pid) ?? Number.NaN;
      const lags = await lagsOf(sender, chats, arrivals, pace);
      await untilIndexed(parley.engine);
      const cpu = (cpuSeconds(parley.pid) ?? Number.NaN) - before;
      if (round > 0) rounds.push({ lags, micros: (cpu / lags.length) * 1e6 });
    }
  }
  const [one] = servers;
  const ratios = servers.map(({ rounds }) =>
    rounds.map(({ micros }, i) => (one?.rounds[i]?.micros ?? Number.NaN) / micros),
  );
  const points = servers.map(({ x, rounds }, i): Point => {
    return {
      x,
      perSecond: pace.perSecond,
      p50Ms: median(rounds.map(({ lags }) => at50(lags))),
      p99Ms: median(rounds.map(({ lags }) => at99(lags))),
      cpuMicros: median(rounds.map(({ micros }) => micros)),
      ratio: median(ratios[i] ?? []),
    };
  });
  const what = `processor time of a send and its delivery at ${pace.perSecond}/s, ${title}`;
  const notes = ['times are lags, from the answer to the sender to the arrival'];
  const doubts = doubtsAboutRounds(ratios, 'first');
  return { kind: 'curve', what, along: 'webhooks', points, bar, from: 'first', notes, doubts };
}
