import { SealedBox } from '../lib/sealed-box.ts';
import type { WebhookServices } from '../operations/operation.ts';
import { HostLimit } from '../webhooks/host-limit.ts';
import { manualAttempts } from '../webhooks/manual-attempts.ts';
import { SecretBox, Sender } from '../webhooks/sender.ts';
import { checkUrl, Guard } from '../webhooks/ssrf/guard.ts';
import { resolveName } from '../webhooks/ssrf/resolve.ts';
import { DeliveryWorker } from '../webhooks/worker.ts';
import { type Core, version } from './core.ts';
import { chance } from './runtime.ts';

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

/** Builds the delivery to webhooks. `notifyNodes` tells other processes that webhooks have changed. */
export function buildDelivery(
  { settings, runtime, key, engine, eventLog, membership, metrics, log }: Core,
  ownPort: () => number | undefined,
  notifyNodes: () => void,
): { worker: DeliveryWorker; services: WebhookServices } {
  const { now, monotonic, sweepMs } = runtime;
  const secrets = new SecretBox(new SealedBox(key, runtime.random));
  const guard = new Guard({
    openNetworks: settings.webhookNetworks,
    loopbackAllowed: isLoopback(settings.host) && (!settings.publicUrl || isLoopback(settings.publicUrl.hostname)),
    ownPort,
    resolve: resolveName,
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
    log,
    metrics,
  });
  const services: WebhookServices = {
    maxPerOwner: settings.webhookLimit,
    checkUrl: (url) => checkUrl(guard, url),
    seal: (secret) => secrets.seal(secret),
    changed: () => {
      notifyNodes();
      return worker.webhooksChanged();
    },
    attempt: manualAttempts({ engine, sender, hosts }),
  };
  return { worker, services };
}
