import { cpuSeconds } from '../../../harness/machine.ts';
import { Receiver } from '../../../harness/receiver.ts';
import { median } from '../../../harness/report.ts';
import { inParallel } from '../../../harness/stage.ts';
import type { EngineMeasure, Ground } from '../../engines.ts';
import { indexed, makeChats, secret, untilIndexed } from '../../fixtures.ts';
import type { Curve, Point } from '../../outcome.ts';
import type { Plan } from '../../plan.ts';
import { sendsBesideIdle } from '../idle-webhooks.ts';
import { at50, at99, lagsOf } from '../lag.ts';
import { bar, doubtsAboutRounds, measureCurve } from './curve.ts';

/** More webhooks: those that a message does not match, and those that share the deliveries. */
export const measureWebhookGrowth: EngineMeasure = async (ground, plan) => [
  await besideIdle(ground, plan),
  await sharingDeliveries(ground, plan),
];

async function besideIdle({ title, start }: Ground, plan: Plan): Promise<Curve> {
  await using servers = new AsyncDisposableStack();
  const racers = [];
  for (const x of plan.sizes.growth.webhooks) {
    const parley = servers.use(await start());
    racers.push({ x, racer: { ...(await sendsBesideIdle(parley, x)), afterRound: indexed(parley) } });
  }
  const what = `send_message beside webhooks that do not match, ${title}`;
  return await measureCurve({ what, along: 'webhooks', racers }, plan);
}

/**
 * The same number of deliveries a second, shared by more and more webhooks, each of a chat of its own. The processor time of
 * one, from the send to the end of the delivery, must not grow.
 */
async function sharingDeliveries({ title, start }: Ground, plan: Plan): Promise<Curve> {
  await using disposables = new AsyncDisposableStack();
  const receiver = disposables.use(new Receiver());
  await receiver.open();
  const servers = [];
  for (const x of plan.sizes.growth.webhooks) {
    const parley = disposables.use(await start());
    const sender = await parley.user('bench');
    const chats = await makeChats(sender, x);
    await inParallel(16, x, (n) => {
      const webhook = { url: receiver.url, events: ['new_message'], secret, chat_id: chats[n] ?? 0 };
      return sender.ok('webhooks.register', webhook);
    });
    // The limits of new endpoints are not measured here.
    await parley.engine.write((tx) =>
      tx.run('UPDATE endpoint_state SET confirmed_url = $1', [new URL(receiver.url).href]),
    );
    servers.push({ x, parley, sender, chats, rounds: [] as { lags: number[]; micros: number }[] });
  }
  const pace = { perSecond: plan.sizes.lagPerSecond, seconds: plan.sizes.lagSeconds };
  // The first round only warms up.
  for (let round = 0; round <= plan.rounds; round++) {
    for (const { parley, sender, chats, rounds } of servers) {
      const before = cpuSeconds(parley.pid) ?? Number.NaN;
      const lags = await lagsOf(sender, chats, receiver, pace);
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
  const notes = ['times are lags, from the response to the sender to the arrival'];
  const doubts = doubtsAboutRounds(ratios, 'first');
  return { kind: 'curve', what, along: 'webhooks', points, bar, from: 'first', notes, doubts };
}
