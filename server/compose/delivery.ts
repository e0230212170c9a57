import type { Settings } from '../config.ts';
import { SealedBox } from '../lib/sealed-box.ts';
import type { LogDeps } from '../log/membership.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { WebhookServices } from '../operations/operation.ts';
import packageJson from '../package.json' with { type: 'json' };
import { manualAttempts } from '../webhooks/manual-attempts.ts';
import { SecretBox, Sender } from '../webhooks/sender.ts';
import { checkUrl, Guard } from '../webhooks/ssrf/guard.ts';
import { resolveName } from '../webhooks/ssrf/resolve.ts';
import { DeliveryWorker } from '../webhooks/worker.ts';
import { chance, type Runtime } from './runtime.ts';

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

/** Builds what delivers to webhooks. `notifyNodes` tells other processes that webhooks have changed. */
export function buildDelivery(
  settings: Settings,
  runtime: Runtime,
  deps: LogDeps,
  key: Uint8Array,
  ownPort: () => number | undefined,
  notifyNodes: () => void,
  metrics: Metrics,
  log: Log,
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
  const sender = new Sender({ guard, secrets, now, monotonic, version: packageJson.version });
  const worker = new DeliveryWorker({
    ...deps,
    monotonic,
    owner: Buffer.from(runtime.random(9)).toString('base64url'),
    isAlone: settings.databaseUrl === undefined,
    now,
    random: () => chance(runtime),
    sender,
    sweepMs,
    notifyNodes,
    log,
    metrics,
  });
  const services: WebhookServices = {
    maxPerUser: settings.webhookLimit,
    checkUrl: (url) => checkUrl(guard, url),
    seal: (secret) => secrets.seal(secret),
    changed: () => {
      notifyNodes();
      return worker.webhooksChanged();
    },
    attempt: manualAttempts(sender),
  };
  return { worker, services };
}
