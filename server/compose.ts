import { buildContract, invalidField, ParleyError } from '@parley/contract';
import type { Server } from 'bun';
import { Authenticator } from './auth/authenticate.ts';
import { Wake } from './bus/wake.ts';
import { limitsOf, SettingError, type Settings } from './config.ts';
import { Follower } from './events/follower.ts';
import { dropExpired } from './events/retention.ts';
import { indexNextEvents } from './events/search-index.ts';
import { serveApi } from './http/api.ts';
import { buildFetch } from './http/app.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { Log } from './observe/log.ts';
import { Metrics } from './observe/metrics.ts';
import { buildHandlers } from './operations/index.ts';
import type { WebhookServices } from './operations/operation.ts';
import packageJson from './package.json' with { type: 'json' };
import { pruneDeliveries } from './store/deliveries.ts';
import type { Engine } from './store/engine.ts';
import { openStore } from './store/open.ts';
import { claimKey, secretKey } from './store/secret-key.ts';
import { noteTokenUses } from './store/tokens.ts';
import { countAdmins } from './store/users.ts';
import { endWithoutAccess } from './store/webhook-ends.ts';
import { pruneWebhooks } from './store/webhooks.ts';
import { Driver } from './webhooks/driver.ts';
import { expireDeliveries } from './webhooks/expiry.ts';
import { AddressRefusal, Guard, NameFailure, resolveName } from './webhooks/guard.ts';
import { errorOf, isSuccess } from './webhooks/health.ts';
import { SecretBox } from './webhooks/secret-box.ts';
import { Sender } from './webhooks/sender.ts';

export const { version } = packageJson;

/** What the process takes from the world around it. */
export interface World {
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
  /** How long a lost wake-up may delay what follows the log. */
  readonly sweepMs: number;
}

export const realWorld: World = {
  now: Date.now,
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  print: (text) => void process.stdout.write(text),
  sweepMs: 2_000,
};

export const hashPassword = (password: string): Promise<string> => Bun.password.hash(password, 'argon2id');

export interface Parley {
  readonly url: string;
  /** Nobody can administer the service yet. */
  readonly needsAdministrator: boolean;
  /** Takes no new requests, finishes those that were accepted, and lets go of everything. */
  stop(): Promise<void>;
}

/** A database that has not answered by then is as good as away. */
const readyMs = 2_000;

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Bun.sleep(ms).then(() => Promise.reject(new Error(`no answer within ${ms} ms`)));
  await Promise.race([work, late]);
}

/** Requests that are still running this long after `stop` are cut off. */
const drainMs = 10_000;

/** The one place that knows every part and puts them together. */
export async function startParley(settings: Settings, world: World = realWorld): Promise<Parley> {
  const log = new Log(settings.logLevel, logFormat(settings), world.print, world.now);
  const metrics = new Metrics(version);
  const engine = await openStore(settings, world.now);
  let port: number | undefined;
  try {
    const wake = new Wake();
    const deliver = await buildDelivery(settings, world, engine, () => port, metrics, log);
    const authenticator = new Authenticator(engine, world.now);
    const contract = buildContract(limitsOf(settings));
    const requestId = requestIds(world);
    const handlers = buildHandlers({
      engine,
      now: world.now,
      random: world.random,
      hashPassword,
      wake: () => wake.call(),
      webhooks: deliver.services,
      audit: (act, fields) => log.write('warn', 'audit', { act, ...fields }),
      forget: (which) => authenticator.forget(which),
    });
    const api = serveApi({
      contract,
      handlers,
      authenticator,
      limiter: settings.rateLimit && new RateLimiter(settings.rateLimit, world.now),
      bodyLimit: settings.bodyLimit,
      requestId,
      log,
      metrics,
    });
    const fetch = buildFetch({
      api,
      contract,
      version,
      requestId,
      ready: () => within(readyMs, countAdmins(engine)),
      metrics: () => metrics.text(),
    });
    const server = listen(settings, fetch);
    port = server.port;
    const noteUses = async () => {
      const uses = authenticator.takeUses();
      if (uses.length > 0) await engine.write((tx) => noteTokenUses(tx, uses));
    };
    const followers = startFollowers(settings, world, engine, noteUses, metrics, log);
    wake.subscribe(() => followers.searchIndex.wake());
    wake.subscribe(() => deliver.driver.wake());
    followers.searchIndex.wake();
    await deliver.driver.start();
    return {
      url: `http://${server.hostname?.includes(':') ? `[${server.hostname}]` : server.hostname}:${server.port}`,
      needsAdministrator: (await countAdmins(engine)) === 0,
      stop: async () => {
        const cutOff = setTimeout(() => void server.stop(true), drainMs);
        await server.stop();
        clearTimeout(cutOff);
        await Promise.all([deliver.driver.stop(), ...Object.values(followers).map((follower) => follower.stop())]);
        await noteUses().catch((cause) => log.write('warn', 'last uses of tokens lost', { cause }));
        await engine.close();
        log.flush();
      },
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function startFollowers(
  settings: Settings,
  world: World,
  engine: Engine,
  noteUses: () => Promise<void>,
  metrics: Metrics,
  log: Log,
) {
  return {
    searchIndex: new Follower({
      name: 'search index',
      step: () => indexNextEvents(engine, (events) => metrics.searchLag(events)),
      gatherMs: 200,
      sweepMs: 1_000,
      share: 0.1,
      log,
    }),
    housekeeping: new Follower({
      name: 'housekeeping',
      step: async () => {
        await noteUses();
        await engine.write((tx) => endWithoutAccess(tx, world.now()));
        return dropExpired(engine, {
          deliveries: {
            dropping: expireDeliveries,
            prune: async (tx, before, count) =>
              (await pruneDeliveries(tx, before, count)) + (await pruneWebhooks(tx, before, count)),
          },
          eventDays: settings.eventDays,
          now: world.now,
          counted: (kind, count) => metrics.pruned(kind, count),
        });
      },
      gatherMs: 0,
      sweepMs: 60_000,
      share: 0.1,
      log,
    }),
  };
}

/** Attempts outside of the lanes that are made at once: tests, and deliveries that are sent once more. */
const mostExtra = 16;
const mostExtraOfOne = 4;

/** What delivers to webhooks. */
async function buildDelivery(
  settings: Settings,
  world: World,
  engine: Engine,
  ownPort: () => number | undefined,
  metrics: Metrics,
  log: Log,
): Promise<{ driver: Driver; services: WebhookServices }> {
  const key = secretKey(settings.folder, settings.secretKey, world.random);
  await claimKey(engine, key, settings.folder);
  const box = new SecretBox(key, world.random);
  const isLocal = isLoopback(settings.host) && (!settings.publicUrl || isLoopback(settings.publicUrl.hostname));
  const guard = new Guard({
    openNetworks: settings.webhookNetworks,
    loopbackAllowed: isLocal,
    ownPort,
    resolve: resolveName,
  });
  const { now } = world;
  const sender = new Sender({ guard, box, now, version });
  const driver = new Driver({
    engine,
    owner: Buffer.from(world.random(9)).toString('base64url'),
    alone: settings.databaseUrl === undefined,
    now,
    random: () => new DataView(world.random(4).slice().buffer).getUint32(0) / 2 ** 32,
    callOff: () => sender.close(),
    send: ({ webhook }, { eventId, event, attempts, replayId }, body, at) =>
      sender.send(webhook, { id: String(eventId), event, body, attempt: attempts + 1, replayId, at }),
    sweepMs: world.sweepMs,
    log,
    gauges: metrics,
  });
  const extra = new Map<number, number>();
  const services: WebhookServices = {
    most: settings.webhookLimit,
    checkUrl: (url) => checkUrl(guard, url),
    seal: (secret) => box.seal(secret),
    nudge: () => driver.nudge(),
    attempt: async (webhook, sending) => {
      const own = extra.get(webhook.user_id) ?? 0;
      const all = [...extra.values()].reduce((sum, count) => sum + count, 0);
      if (own >= mostExtraOfOne || all >= mostExtra) {
        throw new ParleyError('unavailable', 'Too many deliveries are being tried at the moment.');
      }
      extra.set(webhook.user_id, own + 1);
      try {
        const outcome = await sender.send(webhook, sending);
        const answered = outcome.kind === 'answered';
        return {
          delivered: isSuccess(outcome),
          status: answered ? outcome.status : null,
          error: errorOf(outcome),
          duration_ms: Math.round(outcome.ms),
          answer: answered ? outcome.answer : null,
        };
      } finally {
        const left = (extra.get(webhook.user_id) ?? 1) - 1;
        if (left > 0) extra.set(webhook.user_id, left);
        else extra.delete(webhook.user_id);
      }
    },
  };
  return { driver, services };
}

/** A name that does not resolve is kept: its endpoint may not be there yet, and deliveries say so. */
async function checkUrl(guard: Guard, text: string): Promise<string> {
  try {
    const url = guard.readUrl(text);
    await Promise.resolve(guard.target(url)).catch((error) => {
      if (!(error instanceof NameFailure)) throw error;
    });
    return url.href;
  } catch (error) {
    throw error instanceof AddressRefusal ? invalidField('url', error.message) : error;
  }
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

function listen({ host, port }: Settings, fetch: ReturnType<typeof buildFetch>): Server<undefined> {
  try {
    // Above every limit of ours, so that a body that is too large gets our answer and not the runtime's empty one.
    return Bun.serve({ hostname: host, port, fetch, idleTimeout: 60, maxRequestBodySize: Number.MAX_SAFE_INTEGER });
  } catch (error) {
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      throw new SettingError(
        `Port ${port} on ${host} is taken, or ${host} is no address of this machine. Choose others with PORT and HOST.`,
      );
    }
    throw new SettingError(`Cannot listen on ${host} port ${port}: ${(error as Error).message}`);
  }
}

/** Short, unique for all practical purposes, and cheap: one random part for the process and a count. */
function requestIds(world: World): () => string {
  const prefix = Buffer.from(world.random(6)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

function logFormat({ logFormat }: Settings): 'json' | 'text' {
  if (logFormat !== 'auto') return logFormat;
  return process.stdout.isTTY ? 'text' : 'json';
}
