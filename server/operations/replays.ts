import { type EventId, type Input, invalidField, ParleyError, type ReplayId } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import type { Db } from '../store/engine/engine.ts';
import { firstEventSince, logTip, readCursor } from '../store/log/events.ts';
import { skipReplay } from '../store/webhooks/deliveries.ts';
import { bumpRevision } from '../store/webhooks/endpoint-state.ts';
import { countReplay } from '../store/webhooks/replay-events.ts';
import {
  cancelReplay,
  findReplay,
  insertReplay,
  listReplays,
  type ReplayRow,
  runningReplays,
} from '../store/webhooks/replays.ts';
import { lockWebhooks } from '../store/webhooks/webhooks.ts';
import type { Handlers, Services } from './operation.ts';
import * as present from './present.ts';
import { accessPastWebhook, accessWebhook, changeWebhook, hasLostAccess, lockWebhook } from './webhooks.ts';

/** The number of concurrent replays of a webhook. */
const maxRunning = 10;

/** Counting the events of a replay stops here: it reads them. */
const maxPreviewed = 10_000;

type Choice = Input<'webhooks.preview_replay'>;

function requireStart({ from_event_id, since }: Choice): void {
  if ((from_event_id === undefined) === (since === undefined)) {
    throw invalidField('from_event_id', 'or since must say where to begin: exactly one of them');
  }
}

/** Returns the first and the last event of a replay that starts now. Throws `cursor_expired` if some are deleted. */
async function rangeOf(db: Db, { from_event_id, since }: Choice): Promise<{ fromEvent: number; toEvent: number }> {
  const fromEvent = from_event_id ?? (await firstEventSince(db, since ?? 0));
  if (fromEvent <= (await readCursor(db, 'pruned'))) {
    throw new ParleyError('cursor_expired', 'Events of this replay are deleted. Start at a later one.');
  }
  return { fromEvent, toEvent: await logTip(db) };
}

/** Returns a replay of the caller, whose webhook may be deleted. Throws `not_found` for any other. */
async function accessReplay(db: Db, caller: Caller, replayId: ReplayId): Promise<ReplayRow> {
  const replay = await findReplay(db, caller, replayId);
  if (!replay) throw new ParleyError('not_found', 'You have no such replay.');
  await accessPastWebhook(db, caller, replay.webhook_id);
  return replay;
}

export const replayHandlers = (services: Services) =>
  ({
    'webhooks.replay': changeWebhook(services, async (tx, at, { caller, input }) => {
      requireStart(input);
      const webhook = await lockWebhook(tx, caller, input.webhook_id);
      const { webhook_id } = webhook;
      if (hasLostAccess(webhook)) {
        throw new ParleyError('conflict', 'This webhook has lost its access. Make it active first.');
      }
      if ((await runningReplays(tx, webhook_id)).length >= maxRunning) {
        throw new ParleyError('conflict', `${maxRunning} replays of this webhook are running. Wait for one to end.`);
      }
      const range = await rangeOf(tx, input);
      const replay = await insertReplay(tx, { webhookId: webhook_id, only: input.only ?? null, ...range, at });
      await bumpRevision(tx, webhook_id, 'resume');
      return { replay: present.replay(replay) };
    }),

    'webhooks.preview_replay': async ({ caller, input }) => {
      const { engine } = services;
      requireStart(input);
      const webhook = await accessWebhook(engine, caller, input.webhook_id);
      const { fromEvent, toEvent } = await rangeOf(engine, input);
      const only_states = input.only ? JSON.stringify(input.only) : null;
      const replay = { only_states, reached_event: fromEvent - 1, to_event: toEvent };
      const { count, isExact } = await countReplay(engine, webhook, replay, maxPreviewed);
      return { event_count: count, is_exact: isExact, from_event_id: fromEvent as EventId, to_event_id: toEvent };
    },

    'webhooks.cancel_replay': changeWebhook(services, async (tx, at, { caller, input: { replay_id } }) => {
      await lockWebhooks(tx);
      const { webhook_id, status } = await accessReplay(tx, caller, replay_id);
      if (status === 'running') {
        await bumpRevision(tx, webhook_id, 'recheck');
        await skipReplay(tx, { webhook_id, replay_id }, 'by_owner', at);
        await cancelReplay(tx, replay_id, at);
      }
      return { replay: present.replay(await accessReplay(tx, caller, replay_id)) };
    }),

    'webhooks.replays': async ({ caller, input: { webhook_id, before_id, limit } }) => {
      await accessPastWebhook(services.engine, caller, webhook_id);
      const found = await listReplays(services.engine, webhook_id, before_id, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      return { replays: rows.map(present.replay), has_more };
    },
  }) satisfies Partial<Handlers>;
