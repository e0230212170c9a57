import { invalidField, ParleyError } from '@parley/contract';
import { firstEventSince, logTip, readCursor } from '../store/log/events.ts';
import { bumpRevision } from '../store/webhooks/endpoint-state.ts';
import { insertReplay, listReplays, runningReplays } from '../store/webhooks/replays.ts';
import type { Handlers, Services } from './operation.ts';
import * as present from './present.ts';
import { accessPastWebhook, changeWebhook, hasLostAccess, lockWebhook } from './webhooks.ts';

/** The number of concurrent replays of a webhook. */
const maxRunning = 10;

export const replayHandlers = (services: Services) =>
  ({
    'webhooks.replay': changeWebhook(services, async (tx, at, { caller, input }) => {
      const { from_event_id, since, only } = input;
      if ((from_event_id === undefined) === (since === undefined)) {
        throw invalidField('from_event_id', 'or since must say where to begin: exactly one of them');
      }
      const webhook = await lockWebhook(tx, caller, input.webhook_id);
      const { webhook_id } = webhook;
      if (hasLostAccess(webhook)) {
        throw new ParleyError('conflict', 'This webhook has lost its access. Make it active first.');
      }
      if ((await runningReplays(tx, webhook_id)).length >= maxRunning) {
        throw new ParleyError('conflict', `${maxRunning} replays of this webhook are running. Wait for one to end.`);
      }
      const fromEvent = from_event_id ?? (await firstEventSince(tx, since ?? 0));
      if (fromEvent <= (await readCursor(tx, 'pruned'))) {
        throw new ParleyError('cursor_expired', 'Events of this replay are deleted. Start at a later one.');
      }
      const toEvent = await logTip(tx);
      const replay = await insertReplay(tx, { webhookId: webhook_id, only: only ?? null, fromEvent, toEvent, at });
      await bumpRevision(tx, webhook_id, 'resume');
      return { replay: present.replay(replay) };
    }),

    'webhooks.replays': async ({ caller, input: { webhook_id, before_id, limit } }) => {
      await accessPastWebhook(services.engine, caller, webhook_id);
      const found = await listReplays(services.engine, webhook_id, before_id, limit + 1);
      const { rows, has_more } = present.page(found, limit);
      return { replays: rows.map(present.replay), has_more };
    },
  }) satisfies Partial<Handlers>;
