import { buildContract } from '@parley/contract';
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
import packageJson from './package.json' with { type: 'json' };
import type { Engine } from './store/engine.ts';
import { openStore } from './store/open.ts';
import { noteTokenUses } from './store/tokens.ts';
import { countAdmins } from './store/users.ts';

export const { version } = packageJson;

/** What the process takes from the world around it. */
export interface World {
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly print: (text: string) => void;
}

export const realWorld: World = {
  now: Date.now,
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  print: (text) => void process.stdout.write(text),
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
  try {
    const wake = new Wake();
    const authenticator = new Authenticator(engine, world.now);
    const contract = buildContract(limitsOf(settings));
    const requestId = requestIds(world);
    const handlers = buildHandlers({
      engine,
      now: world.now,
      random: world.random,
      hashPassword,
      wake: () => wake.call(),
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
    const noteUses = async () => {
      const uses = authenticator.takeUses();
      if (uses.length > 0) await engine.write((tx) => noteTokenUses(tx, uses));
    };
    const followers = startFollowers(settings, world, engine, noteUses, metrics, log);
    wake.subscribe(() => followers.searchIndex.wake());
    followers.searchIndex.wake();
    return {
      url: `http://${server.hostname?.includes(':') ? `[${server.hostname}]` : server.hostname}:${server.port}`,
      needsAdministrator: (await countAdmins(engine)) === 0,
      stop: async () => {
        const cutOff = setTimeout(() => void server.stop(true), drainMs);
        await server.stop();
        clearTimeout(cutOff);
        await Promise.all(Object.values(followers).map((follower) => follower.stop()));
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
        return dropExpired(engine, {
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
