import { invalidField, ParleyError } from '@parley/contract';
import { firstEventSince, logTip, readCursor } from '../store/log/events.ts';
import { bumpRevision } from '../store/webhooks/endpoint-state.ts';
import { insertReplay, listReplays, runningReplays } from '../store/webhooks/replays.ts';
import { change, type Handler, type Services } from './operation.ts';
import * as present from './present.ts';
import { accessPastWebhook, lockWebhook } from './webhooks.ts';

/** Replays of one webhook that go on at the same time. */
const mostRunning = 10;

export function startReplay(services: Services): Handler<'webhooks.replay'> {
  return async (call) => {
    const { caller, input } = call;
    const { from_event_id, since, only } = input;
    if ((from_event_id === undefined) === (since === undefined)) {
      throw invalidField('from_event_id', 'or since must say where to begin: exactly one of them');
    }
    const answer = await change(services, call, async (tx, at) => {
      const { webhook_id, disabled_reason } = await lockWebhook(tx, caller, input.webhook_id);
      if (disabled_reason === 'access_revoked' || disabled_reason === 'user_disabled') {
        throw new ParleyError('conflict', 'This webhook has lost its access. Make it active first.');
      }
      if ((await runningReplays(tx, webhook_id)).length >= mostRunning) {
        throw new ParleyError('conflict', `${mostRunning} replays of this webhook are under way already.`);
      }
      const fromEvent = from_event_id ?? (await firstEventSince(tx, since ?? 0));
      if (fromEvent <= (await readCursor(tx, 'pruned'))) {
        throw new ParleyError(
          'cursor_expired',
          'Events from that one on are no longer all kept. Begin at a later one.',
        );
      }
      const toEvent = await logTip(tx);
      const replay = await insertReplay(tx, { webhookId: webhook_id, only: only ?? null, fromEvent, toEvent, at });
      await bumpRevision(tx, webhook_id, 'resume');
      return { replay: present.replay(replay) };
    });
    await services.webhooks.changed();
    return answer;
  };
}

export function listOfReplays({ engine }: Services): Handler<'webhooks.replays'> {
  return async ({ caller, input }) => {
    await accessPastWebhook(engine, caller, input.webhook_id);
    const found = await listReplays(engine, input.webhook_id, input.before_id, input.limit + 1);
    const { rows, has_more } = present.page(found, input.limit);
    return { replays: rows.map(present.replay), has_more };
  };
}
