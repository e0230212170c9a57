import { buildContract } from '@parley/contract';
import { OAuth } from '../auth/oauth/oauth.ts';
import type { Settings } from '../config.ts';
import { serveApi } from '../http/api.ts';
import { buildFetch, NotReady } from '../http/app.ts';
import { serveHooks } from '../http/hooks.ts';
import { serveMcp } from '../http/mcp.ts';
import { serveMetrics } from '../http/metrics.ts';
import { serveOAuth } from '../http/oauth.ts';
import { type RateLimit, RateLimiter, type RateLimits } from '../http/rate-limit.ts';
import { serveUploads } from '../http/uploads.ts';
import { withTimeout } from '../lib/timeout.ts';
import { HookPosts } from '../operations/hook-posts.ts';
import { buildGates, buildHandlers } from '../operations/index.ts';
import { servePages } from '../pages/index.ts';
import { countAdmins } from '../store/access/users.ts';
import { keepSetupLink } from '../store/data-folder/setup-link.ts';
import { countOpenDeliveries } from '../store/observe/samples.ts';
import { type Core, version } from './core.ts';
import type { Parts } from './parts.ts';
import type { Runtime } from './runtime.ts';

/** A database that takes longer than this to respond makes the process not ready. */
const readyTimeoutMs = 2_000;

const lowDisk =
  'the disk is almost full: calls that add data to it get 503 until there is more free space (PARLEY_DISK_RESERVE)';

const failedBackup = 'the last scheduled backup failed: the log says why (background_job_failed)';

/** Builds everything that is served over HTTP, on one request pipeline. */
export function buildHttp(core: Core, parts: Parts, isStopping: () => boolean) {
  const { settings, runtime, engine, metrics, log, disk } = core;
  const { authenticator, backups, files, services } = parts;
  const contract = buildContract(settings);
  const handlers = buildHandlers(services);
  const limits = rateLimits(settings, runtime.now);
  const pipeline = {
    authenticator,
    limits,
    trustedProxies: settings.trustProxy,
    publicUrl: settings.publicUrl,
    newRequestId: requestIds(runtime),
    monotonic: runtime.monotonic,
    log,
    metrics,
  };
  const oauth = new OAuth(services);
  const uploads = serveUploads({ ...pipeline, uploads: files.uploads, locks: files.locks });
  const ready = async () => {
    if (isStopping()) throw new NotReady('The server is stopping.');
    await withTimeout(readyTimeoutMs, countAdmins(engine), () => new Error('no response'));
    // Still 200: a proxy that stops sending requests would also stop those that free space.
    const problems = [disk.isLow && lowDisk, backups.isFailing && failedBackup].filter((problem) => problem !== false);
    return problems.length === 0 ? 'ready' : `ready, but ${problems.join('; ')}`;
  };
  const api = serveApi({
    ...pipeline,
    contract,
    handlers,
    gates: buildGates(services),
    uploads: files.uploads,
    callerOfLink: (query) => files.services.links.callerOf(query),
    bodyLimit: settings.bodyLimit,
  });
  const fetch = buildFetch({
    api,
    mcp: serveMcp({ ...pipeline, api, contract, version, bodyLimit: settings.bodyLimit }),
    uploads: uploads.fetch,
    hooks: serveHooks({
      ...pipeline,
      hooks: new HookPosts(services, (cause) => log.write('warn', 'hook_use_not_stored', { cause })),
      bodyLimit: settings.bodyLimit,
      contentBytes: settings.contentBytes,
    }),
    oauth: serveOAuth({ ...pipeline, oauth }),
    pages: servePages({
      ...pipeline,
      services,
      contract,
      handlers,
      oauth,
      signUp: settings.signUp,
      version,
      setUpDone: () => keepSetupLink(settings.folder, undefined),
    }),
    publicUrl: settings.publicUrl,
    trustedProxies: settings.trustProxy,
    contract,
    version,
    ready,
    metrics: serveMetrics(() => currentMetrics(core), settings.metricsToken),
  });
  return { fetch, limits, stopUploads: () => uploads.stop() };
}

/** Open deliveries are counted up to here: 5 ms on SQLite. */
const maxCounted = 100_000;

const countMs = 1_000;

/** Returns the metrics with the open deliveries of now, or without them if the database is away. */
async function currentMetrics({ engine, metrics }: Pick<Core, 'engine' | 'metrics'>): Promise<string> {
  const late = () => new Error('the database does not respond');
  const open = await withTimeout(countMs, countOpenDeliveries(engine, maxCounted), late).catch(() => undefined);
  metrics.openDeliveries(open);
  return metrics.text();
}

/** By default a person has the limit of so many tokens. */
const tokensPerOwner = 4;

function rateLimits({ rateLimit, ownerRateLimit }: Settings, now: () => number): RateLimits {
  const ownerLimit = ownerRateLimit === 'auto' ? rateLimit && times(rateLimit, tokensPerOwner) : ownerRateLimit;
  return {
    callers: rateLimit && new RateLimiter(rateLimit, now),
    owners: ownerLimit && new RateLimiter(ownerLimit, now),
  };
}

const times = ({ perSecond, burst }: RateLimit, factor: number): RateLimit => ({
  perSecond: perSecond * factor,
  burst: burst * factor,
});

/** Returns short unique ids: a random part for the process, and a counter, which is cheaper than randomness. */
function requestIds(runtime: Runtime): () => string {
  const prefix = Buffer.from(runtime.random(6)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}
