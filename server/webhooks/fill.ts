import type { DeliveryState } from '@parley/contract';
import { backlogsOf, endBacklog, moveBacklog } from '../store/backlogs.ts';
import { insertPending, type NewDelivery, unhappyEvents } from '../store/deliveries.ts';
import { noteFilled } from '../store/drives.ts';
import type { Db, Engine, Tx } from '../store/engine.ts';
import { finishReplays, moveReplay, type ReplayRow, runningReplays } from '../store/replays.ts';
import { backlogged, eventsFor, isAbout, reachOf } from '../store/webhook-events.ts';
import { lockWebhooks, readPosition, type WebhookRow } from '../store/webhooks.ts';

/** Makes the next deliveries out of what the log holds for a webhook. A backlog that has reached the present ends. */
export function fillBacklog(
  engine: Engine,
  owner: string,
  webhook: WebhookRow,
  chatId: number,
  limit: number,
): Promise<void> {
  return engine.writeSoon(async (tx) => {
    await lockWebhooks(tx);
    const backlogs = await backlogsOf(tx, webhook.webhook_id);
    const backlog = backlogs.find((b) => b.chat_id === chatId);
    if (!backlog) return;
    const { dispatched } = await readPosition(tx);
    const { events, reached } = await backlogged(tx, webhook, backlogs, backlog, dispatched, limit);
    if (reached === dispatched) await endBacklog(tx, backlog);
    else await moveBacklog(tx, backlog, reached);
    const rows = events.map(({ event_id, chat_id, event }) => ({
      webhook_id: webhook.webhook_id,
      event_id,
      replay_id: 0,
      chat_id,
      event,
    }));
    await insert(tx, owner, rows);
  });
}

/** Makes the next deliveries of a replay. */
export function fillReplay(
  engine: Engine,
  owner: string,
  webhook: WebhookRow,
  replayId: number,
  limit: number,
  at: number,
) {
  return engine.writeSoon(async (tx) => {
    await lockWebhooks(tx);
    const replay = (await runningReplays(tx, webhook.webhook_id)).find((r) => r.replay_id === replayId);
    if (!replay || replay.reached_event >= replay.to_event) return;
    const { rows, reached } = await replayed(tx, webhook, replay, limit);
    const filled = await insert(
      tx,
      owner,
      rows.map((row) => ({ ...row, replay_id: replay.replay_id })),
    );
    await moveReplay(tx, replay.replay_id, reached, filled);
    await finishReplays(tx, webhook.webhook_id, at);
  });
}

async function replayed(
  db: Db,
  webhook: WebhookRow,
  replay: ReplayRow,
  limit: number,
): Promise<{ rows: Omit<NewDelivery, 'replay_id'>[]; reached: number }> {
  const { webhook_id } = webhook;
  const range = { after: replay.reached_event, upTo: replay.to_event, limit };
  if (replay.only_states !== null) {
    const states = JSON.parse(replay.only_states) as DeliveryState[];
    const rows = await unhappyEvents(db, webhook_id, { ...range, states });
    return { rows, reached: reachOf(rows, limit, replay.to_event) };
  }
  const found = await eventsFor(db, webhook, range);
  const rows = found
    .filter((e) => !isAbout(e, webhook_id))
    .map(({ event_id, chat_id, event }) => ({ webhook_id, event_id, chat_id, event }));
  return { rows, reached: reachOf(found, limit, replay.to_event) };
}

/** Answers how many there were. */
async function insert(tx: Tx, owner: string, rows: readonly NewDelivery[]): Promise<number> {
  const inserted = await insertPending(tx, rows);
  const [first] = inserted;
  if (first) await noteFilled(tx, owner, [[first.webhook_id, inserted.length]]);
  return inserted.length;
}
