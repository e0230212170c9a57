import type { Settings } from '../config.ts';
import { isLoopbackHost } from '../domain/address.ts';
import { SealedBox } from '../lib/sealed-box.ts';
import type { WebhookServices } from '../operations/operation.ts';
import type { DeliveryDeps } from '../webhooks/deps.ts';
import { HostLimit } from '../webhooks/host-limit.ts';
import { manualAttempts } from '../webhooks/manual-attempts.ts';
import { SecretBox, Sender } from '../webhooks/sender.ts';
import { checkUrl, Guard } from '../webhooks/ssrf/guard.ts';
import { DeliveryWorker } from '../webhooks/worker.ts';
import { type Core, version } from './core.ts';
import { chance } from './runtime.ts';

/** The server is for this machine alone, so loopback addresses are no way into it that a user does not have already. */
const isForThisMachine = ({ host, publicUrl, trustProxy }: Settings): boolean =>
  isLoopbackHost(host) && trustProxy.kind === 'none' && (!publicUrl || isLoopbackHost(publicUrl.hostname));

const forwardedHint =
  'Requests come through a proxy. Set PUBLIC_URL and TRUST_PROXY: webhooks to loopback addresses are then closed for all.';

/** Returns a function that calls `run` the first time. */
function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

/** Builds the delivery to webhooks. `notifyNodes` tells other processes that webhooks have changed. */
export function buildDelivery(
  { settings, runtime, key, engine, eventLog, membership, metrics, log }: Core,
  ownPort: () => number | undefined,
  notifyNodes: () => void,
  deliveriesChanged: DeliveryDeps['deliveriesChanged'],
): { worker: DeliveryWorker; services: WebhookServices; guard: Guard; hosts: HostLimit } {
  const { now, monotonic, sweepMs } = runtime;
  const secrets = new SecretBox(new SealedBox(key, runtime.random));
  const guard = new Guard({
    openNetworks: settings.webhookNetworks,
    loopbackAllowed: isForThisMachine(settings),
    forwardedRefused: once(() => log.write('warn', 'loopback_webhook_refused', { hint: forwardedHint })),
    ownPort,
    resolve: runtime.resolveName,
    monotonic,
  });
  const sender = new Sender({ guard, secrets, now, monotonic, version });
  const hosts = new HostLimit(monotonic);
  const worker = new DeliveryWorker({
    engine,
    eventLog,
    membership,
    monotonic,
    owner: Buffer.from(runtime.random(9)).toString('base64url'),
    isAlone: settings.databaseUrl === undefined,
    now,
    random: () => chance(runtime),
    sender,
    hosts,
    maxRequests: settings.maxRequests,
    sweepMs,
    notifyNodes,
    deliveriesChanged,
    log,
    metrics,
  });
  const services: WebhookServices = {
    maxPerOwner: settings.webhookLimit,
    checkUrl: (url, call) => checkUrl(guard, url, call),
    seal: (secret) => secrets.seal(secret),
    changed: () => {
      notifyNodes();
      return worker.webhooksChanged();
    },
    sentHeaders: (webhook, delivery, body) => sender.sentHeaders(webhook, delivery, body),
    attempt: manualAttempts({ engine, sender, hosts }),
  };
  return { worker, services, guard, hosts };
}
