import type { Settings } from '../config.ts';
import { SealedBox } from '../lib/sealed-box.ts';
import type { LogDeps } from '../log/membership.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { WebhookServices } from '../operations/operation.ts';
import packageJson from '../package.json' with { type: 'json' };
import { ByHand } from '../webhooks/by-hand.ts';
import { Driver } from '../webhooks/driver.ts';
import { checkUrl } from '../webhooks/endpoint-url.ts';
import { Guard, resolveName } from '../webhooks/guard.ts';
import { SecretBox } from '../webhooks/secret-box.ts';
import { Sender } from '../webhooks/sender.ts';
import { chance, type World } from './world.ts';

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

/** What delivers to webhooks. */
export function buildDelivery(
  settings: Settings,
  world: World,
  deps: LogDeps,
  key: Uint8Array,
  ownPort: () => number | undefined,
  metrics: Metrics,
  log: Log,
): { driver: Driver; services: WebhookServices } {
  const box = new SecretBox(new SealedBox(key, world.random));
  const isLocal = isLoopback(settings.host) && (!settings.publicUrl || isLoopback(settings.publicUrl.hostname));
  const guard = new Guard({
    openNetworks: settings.webhookNetworks,
    loopbackAllowed: isLocal,
    ownPort,
    resolve: resolveName,
  });
  const { now, monotonic } = world;
  const sender = new Sender({ guard, box, now, monotonic, version: packageJson.version });
  const driver = new Driver({
    ...deps,
    monotonic,
    owner: Buffer.from(world.random(9)).toString('base64url'),
    alone: settings.databaseUrl === undefined,
    now,
    random: () => chance(world),
    callOff: () => sender.close(),
    send: ({ webhook }, { eventId, event, attempts, replayId }, body, at) =>
      sender.send(webhook, { id: String(eventId), event, body, attempt: attempts + 1, replayId, at }),
    sweepMs: world.sweepMs,
    log,
    gauges: metrics,
  });
  const byHand = new ByHand(sender);
  const services: WebhookServices = {
    most: settings.webhookLimit,
    checkUrl: (url) => checkUrl(guard, url),
    seal: (secret) => box.seal(secret),
    nudge: () => driver.nudge(),
    attempt: (webhook, sending) => byHand.attempt(webhook, sending),
  };
  return { driver, services };
}
