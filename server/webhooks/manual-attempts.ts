import { ParleyError } from '@parley/contract';
import type { AttemptMade, AttemptTarget, Sending, UnregisteredEndpoint } from '../domain/attempt.ts';
import type { Db } from '../store/engine/engine.ts';
import { findAccess, type WebhookAccess, type WebhookRow } from '../store/webhooks/webhooks.ts';
import type { DeliveryDeps } from './deps.ts';
import { isSuccess, resultFields } from './health.ts';
import { hostKey } from './host-limit.ts';

/** Concurrent attempts: in all, those to URLs of no webhook, and for one owner. */
const maxInAll = 16;
/** Fewer, so that tests of URLs that hang cannot keep others from redelivering. */
const maxToUrls = 8;
const maxPerOwner = 4;

const tooMany = (why: string) => new ParleyError('unavailable', `${why} Try again in a moment.`);

interface InFlight {
  readonly ownerId: number;
  readonly target: AttemptTarget;
}

/**
 * Returns a function that makes an attempt outside of the queues, for tests and for settled deliveries that are sent once
 * more. It rejects with `unavailable` if too many attempts are in flight, or too many go to a host that has not
 * responded with a 2xx yet.
 */
export function manualAttempts({ engine, sender, hosts }: Pick<DeliveryDeps, 'engine' | 'sender' | 'hosts'>) {
  const inFlight = new Set<InFlight>();
  const count = (matches: (attempt: InFlight) => boolean) => [...inFlight].filter(matches).length;
  return async (
    endpoint: WebhookRow | UnregisteredEndpoint,
    sending: Sending,
    target: AttemptTarget,
  ): Promise<AttemptMade> => {
    const { owner_id, confirmed_url } = await accessOf(engine, endpoint);
    const host = confirmed_url === endpoint.url ? undefined : hostKey(owner_id, endpoint.url);
    if (count(({ ownerId }) => ownerId === owner_id) >= maxPerOwner)
      throw tooMany(`You and your bots already wait for ${maxPerOwner} endpoints.`);
    const isFull = inFlight.size >= maxInAll || (target === 'url' && count((one) => one.target === 'url') >= maxToUrls);
    if (isFull) throw tooMany('The service is busy with the tests and redeliveries of others.');
    if (host !== undefined && hosts.waitMs(host) > 0)
      throw tooMany('This host has got many requests from you just now.');
    const attempt = { ownerId: owner_id, target };
    inFlight.add(attempt);
    if (host !== undefined) hosts.take(host);
    try {
      const outcome = await (isWebhook(endpoint) ? sender.send(endpoint, sending) : sender.sendTo(endpoint, sending));
      return { delivered: isSuccess(outcome), ...resultFields(outcome) };
    } finally {
      inFlight.delete(attempt);
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
