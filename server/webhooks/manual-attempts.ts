import { ParleyError } from '@parley/contract';
import type { AttemptMade, Sending, UnregisteredEndpoint } from '../domain/attempt.ts';
import type { Db } from '../store/engine/engine.ts';
import { findAccess, type WebhookAccess, type WebhookRow } from '../store/webhooks/webhooks.ts';
import type { DeliveryDeps } from './deps.ts';
import { isSuccess, resultFields } from './health.ts';
import { hostKey } from './host-limit.ts';

/** Concurrent attempts: in all, and for one owner. */
const maxInAll = 16;
const maxPerOwner = 4;

/**
 * Returns a function that makes an attempt outside of the queues, for tests and for settled deliveries that are sent once
 * more. It rejects with `unavailable` if too many attempts are in flight, or too many go to a host that has not
 * responded with a 2xx yet.
 */
export function manualAttempts({ engine, sender, hosts }: Pick<DeliveryDeps, 'engine' | 'sender' | 'hosts'>) {
  /** The owners of the attempts in flight. */
  const owners: number[] = [];
  return async (endpoint: WebhookRow | UnregisteredEndpoint, sending: Sending): Promise<AttemptMade> => {
    const { owner_id, confirmed_url } = await accessOf(engine, endpoint);
    const host = confirmed_url === endpoint.url ? undefined : hostKey(owner_id, endpoint.url);
    const isOwnerBusy = owners.filter((id) => id === owner_id).length >= maxPerOwner;
    if (owners.length >= maxInAll || isOwnerBusy || (host !== undefined && hosts.waitMs(host) > 0)) {
      throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
    }
    owners.push(owner_id);
    if (host !== undefined) hosts.take(host);
    try {
      const outcome = await (isWebhook(endpoint) ? sender.send(endpoint, sending) : sender.sendTo(endpoint, sending));
      return { delivered: isSuccess(outcome), ...resultFields(outcome) };
    } finally {
      owners.splice(owners.indexOf(owner_id), 1);
      if (host !== undefined) hosts.release(host);
    }
  };
}

const isWebhook = (endpoint: WebhookRow | UnregisteredEndpoint): endpoint is WebhookRow => 'webhook_id' in endpoint;

async function accessOf(
  db: Db,
  endpoint: WebhookRow | UnregisteredEndpoint,
): Promise<Pick<WebhookAccess, 'owner_id' | 'confirmed_url'>> {
  if (!isWebhook(endpoint)) return { owner_id: endpoint.ownerId, confirmed_url: null };
  const access = await findAccess(db, endpoint.webhook_id);
  if (!access) throw new ParleyError('not_found', 'You have no such webhook.');
  return access;
}
