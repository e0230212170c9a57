import { logTip } from '../../../../server/store/log/events.ts';
import type { Client } from '../../../../server/test/support/client.ts';
import type { EngineMeasure, Ground } from '../../engines.ts';
import { analyze, fillChat, secret } from '../../fixtures.ts';
import type { Curve } from '../../outcome.ts';
import { get, type Parley, type Request } from '../../parley.ts';
import { measureCurve } from './curve.ts';

/** Rows of each rare kind, spread evenly over all deliveries. */
const rareRows = 100;

/** Events whose deliveries are added in one transaction. */
const maxBatch = 50_000;

/** The list of deliveries of a webhook, with each of its filters, while the deliveries grow. */
export const measureDeliveryGrowth: EngineMeasure = async ({ title, start }, plan) => {
  await using servers = new AsyncDisposableStack();
  const logs: Awaited<ReturnType<typeof makeServer>>[] = [];
  for (const x of plan.sizes.growth.deliveries) logs.push(await makeServer(x, start, servers));
  const curves: Curve[] = [];
  for (const probe of Object.keys(logs[0]?.requests ?? {})) {
    const racers = logs.map(({ x, parley, requests }) => ({ x, racer: parley.racer(requests[probe] ?? []) }));
    const contest = { what: `deliveries, ${probe}, ${title}`, along: 'deliveries of the webhook', racers };
    curves.push(await measureCurve(contest, plan));
  }
  return curves;
};

async function makeServer(x: number, start: Ground['start'], servers: AsyncDisposableStack) {
  const parley = servers.use(await start());
  const owner = await parley.user('bench');
  const chat = (await owner.ok('messages.create_group', { name: 'Deliveries', participants: [] })).group.chat_id;
  await fillChat(parley.engine, owner, chat, x);
  const { webhook } = await owner.ok('webhooks.register', { url: 'http://127.0.0.1:9/hook', events: ['*'], secret });
  // What is open must stay so.
  await owner.ok('webhooks.update', { webhook_id: webhook.webhook_id, status: 'paused' });
  const rareChat = chat + 1;
  await fillDeliveries(parley, webhook.webhook_id, { chat, rareChat, count: x });
  return { x, parley, requests: await requestsOf(parley, owner, webhook.webhook_id, { chat, rareChat }) };
}

/** Adds a delivery for each event of a chat. Some differ in one thing, as many of each kind whatever the size. */
async function fillDeliveries(
  { engine }: Parley,
  webhookId: number,
  { chat, rareChat, count }: { chat: number; rareChat: number; count: number },
): Promise<void> {
  const step = Math.max(5, Math.floor(count / rareRows));
  const every = (offset: number) => `e.event_id % ${step} = ${offset}`;
  const row = (replayId: number) =>
    `SELECT ${webhookId}, e.event_id, ${replayId}, CASE WHEN ${every(0)} THEN ${rareChat} ELSE e.chat_id END,
       CASE WHEN ${every(1)} THEN 'message_edited' ELSE e.event END,
       CASE WHEN ${every(2)} THEN 'failed' WHEN ${every(3)} THEN 'skipped' WHEN ${every(4)} THEN 'retrying'
         ELSE 'delivered' END, 1, e.created_at, 200, 1, CASE WHEN ${every(4)} THEN NULL ELSE e.created_at END
     FROM events e
     WHERE e.chat_id = ${chat} AND e.event = 'new_message' AND e.event_id >= $1 AND e.event_id < $1 + ${maxBatch}`;
  const columns = `webhook_id, event_id, replay_id, chat_id, event, state, attempts, last_at, last_status, duration_ms,
    settled_at`;
  const tip = await logTip(engine);
  for (let from = 0; from <= tip; from += maxBatch) {
    await engine.write(async (tx) => {
      await tx.run(`INSERT INTO deliveries (${columns}) ${row(0)}`, [from]);
      await tx.run(`INSERT INTO deliveries (${columns}) ${row(1)} AND ${every(0)}`, [from]);
    });
  }
  await analyze(engine);
}

async function requestsOf(
  { engine }: Parley,
  owner: Client,
  webhookId: number,
  { chat, rareChat }: { chat: number; rareChat: number },
): Promise<Record<string, readonly Request[]>> {
  const list = (filters: Record<string, string | number> = {}) => [
    get(owner, 'webhooks', {
      ...{ action: 'deliveries', webhook_id: String(webhookId), limit: '50' },
      ...Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)])),
    }),
  ];
  const sql = 'SELECT delivery_id, last_at FROM deliveries ORDER BY delivery_id';
  const middle = await engine.get<{ delivery_id: number; last_at: number }>(
    `${sql} LIMIT 1 OFFSET (SELECT count(*) / 2 FROM deliveries)`,
  );
  const since = new Date(middle?.last_at ?? 0).toISOString();
  return {
    newest: list(),
    'from the middle': list({ before_id: middle?.delivery_id ?? 0 }),
    'since a time': list({ since }),
    'until a time': list({ until: since }),
    'state delivered': list({ state: 'delivered' }),
    'state failed': list({ state: 'failed' }),
    'state retrying': list({ state: 'retrying' }),
    'a common event': list({ event: 'new_message' }),
    'a rare event': list({ event: 'message_edited' }),
    'a busy chat': list({ chat_id: chat }),
    'a quiet chat': list({ chat_id: rareChat }),
    'a replay': list({ replay_id: 1 }),
    'chat, event and state': list({ chat_id: chat, event: 'new_message', state: 'delivered' }),
    health: [get(owner, 'webhooks', { action: 'health' })],
  };
}
