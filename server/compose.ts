import { buildContract, type UserId } from '@parley/contract';
import { Authenticator } from './auth/authenticate.ts';
import { createSetupLink } from './auth/links.ts';
import { OAuth } from './auth/oauth/oauth.ts';
import { Passwords } from './auth/passwords.ts';
import type { SignInServices } from './auth/services.ts';
import { startBackgroundJobs } from './compose/background.ts';
import { buildDelivery } from './compose/delivery.ts';
import { buildFiles } from './compose/files.ts';
import { listen, localUrl } from './compose/listening.ts';
import { buildLive, type Live } from './compose/live.ts';
import type { Runtime } from './compose/runtime.ts';
import type { Settings } from './config.ts';
import { serveApi } from './http/api.ts';
import { buildFetch } from './http/app.ts';
import { serveOAuth } from './http/oauth.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { serveUploads } from './http/uploads.ts';
import { withTimeout } from './lib/timeout.ts';
import { EventLog } from './log/event-log.ts';
import { MembershipIndex } from './log/membership.ts';
import { Log } from './observe/log.ts';
import { Metrics } from './observe/metrics.ts';
import { buildGates, buildHandlers } from './operations/index.ts';
import type { Services } from './operations/operation.ts';
import packageJson from './package.json' with { type: 'json' };
import { servePages } from './pages/index.ts';
import { recordTokenUses } from './store/access/tokens.ts';
import { countAdmins } from './store/access/users.ts';
import { claimKey, secretKey } from './store/data-folder/secret-key.ts';
import { keepSetupLink } from './store/data-folder/setup-link.ts';
import { openStore } from './store/engine/open.ts';

export type { Runtime } from './compose/runtime.ts';

export const { version } = packageJson;

export const processRuntime: Runtime = {
  now: Date.now,
  monotonic: () => performance.now(),
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  print: (text) => void process.stdout.write(text),
  sweepMs: 2_000,
  fileSweepMs: 15_000,
  quietMs: 15_000,
  stallMs: 30_000,
  drainMs: 10_000,
};

export interface Parley {
  readonly url: string;
  /** Nobody can administer the service yet: whoever opens this address becomes the first who can. */
  readonly setupLink: string | undefined;
  /** Takes no new requests, finishes those that were accepted, and lets go of everything. */
  stop(): Promise<void>;
}

/** A database that has not answered by then is as good as away. */
const readyMs = 2_000;

const within = (ms: number, work: Promise<unknown>) =>
  withTimeout(ms, work, () => new Error(`no response within ${ms} ms`));

/** Background jobs that wait for a storage that does not respond are abandoned after this time. */
const backgroundMs = 15_000;

/** What was cut off is removed within this time, or once it has expired. */
const releaseMs = 2_000;

/** The one place that knows every part and puts them together. */
export async function startParley(settings: Settings, runtime: Runtime = processRuntime): Promise<Parley> {
  const log = new Log(settings.logLevel, logFormat(settings), runtime.print, runtime.now);
  const metrics = new Metrics(version);
  const engine = await openStore(settings, runtime.now, runtime.monotonic);
  let port: number | undefined;
  let isStopping = false;
  /** What has to be let go of where the start fails. */
  const undo: (() => unknown)[] = [() => engine.close()];
  try {
    const eventLog = new EventLog({ engine, monotonic: runtime.monotonic, sweepMs: runtime.sweepMs, log });
    undo.push(() => eventLog.stop());
    await eventLog.refresh();
    const deps = { engine, eventLog, membership: new MembershipIndex(engine, eventLog) };
    const key = secretKey(settings.folder, settings.secretKey, runtime.random);
    await claimKey(engine, key, settings.folder);
    const notifyNodes = () => live.nodes.webhooksChanged();
    const delivery = buildDelivery(settings, runtime, deps, key, () => port, notifyNodes, metrics, log);
    const address = () => settings.publicUrl?.origin ?? localUrl(settings, port);
    const files = await buildFiles(settings, runtime, engine, key, address, (upload) => live.nodes.wantUpload(upload));
    const authenticator = new Authenticator(engine, runtime.now);
    const listener = {
      forgetUsers: (userIds: readonly UserId[]) => authenticator.forget(userIds),
      webhooksChanged: () => void delivery.worker.webhooksChanged(),
      uploadWanted: (upload: string) => files.locks.interrupt(upload),
    };
    const live: Live = buildLive(settings, runtime, deps, key, listener, metrics, log);
    engine.locked = (waitedMs, heldMs) => metrics.eventLock(waitedMs, heldMs);
    undo.push(() => live.nodes.stop());
    const contract = buildContract(settings);
    const services: Services & SignInServices = {
      engine,
      now: runtime.now,
      random: runtime.random,
      passwords: new Passwords(settings.passwordCost),
      ...live.services,
      webhooks: delivery.services,
      files: files.services,
      ended: async (...userIds) => {
        authenticator.forget(userIds);
        await live.accessEnded(userIds);
        await delivery.worker.webhooksChanged();
      },
      signInLimit: settings.signInLimit,
      deviceKey: new Bun.CryptoHasher('sha256', key).update('devices').digest(),
    };
    const handlers = buildHandlers(services);
    const limiter = settings.rateLimit && new RateLimiter(settings.rateLimit, runtime.now);
    const pipeline = {
      authenticator,
      limiter,
      trustedProxies: settings.trustProxy,
      publicUrl: settings.publicUrl,
      newRequestId: requestIds(runtime),
      monotonic: runtime.monotonic,
      log,
      metrics,
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
    const oauth = new OAuth(services);
    const uploads = serveUploads({ ...pipeline, uploads: files.uploads, locks: files.locks });
    const fetch = buildFetch({
      api,
      uploads: uploads.fetch,
      oauth: serveOAuth({ ...pipeline, oauth }),
      pages: servePages({
        ...pipeline,
        services,
        handlers,
        oauth,
        signUp: settings.signUp,
        version,
        setUpDone: () => keepSetupLink(settings.folder, undefined),
      }),
      contract,
      version,
      ready: () =>
        isStopping ? Promise.reject(new Error('stopping')) : within(readyMs, countAdmins(engine)).then(() => {}),
      metrics: () => metrics.text(),
    });
    const server = listen(settings, fetch);
    undo.push(() => server.stop(true));
    port = server.port;
    const storeTokenUses = async () => {
      const uses = authenticator.takeUses();
      if (uses.length > 0) await engine.writeRelaxed((tx) => recordTokenUses(tx, uses));
    };
    const { blobs } = files;
    const jobs = startBackgroundJobs(settings, runtime, { ...deps, blobs, limiter, storeTokenUses, metrics, log });
    eventLog.subscribe(() => delivery.worker.eventsCommitted());
    await delivery.worker.start();
    const url = localUrl(settings, port);
    const secret = await createSetupLink(services);
    const setupLink = secret && `${address()}/setup/${secret}`;
    keepSetupLink(settings.folder, setupLink);
    return {
      url,
      setupLink,
      stop: async () => {
        isStopping = true;
        log.write('info', 'stopping', { serving_on_seconds: settings.stopDelay });
        await Bun.sleep(settings.stopDelay * 1_000);
        const cutOff = setTimeout(() => void server.stop(true), runtime.drainMs);
        const streamsStopped = live.streams.stop();
        // Their answers have ended by then: otherwise one that is not being read is waited for.
        await Bun.sleep(0);
        const drained = server.stop();
        uploads.stop();
        await drained;
        clearTimeout(cutOff);
        await within(releaseMs, files.uploads.settled()).catch(() => {});
        const stopping = [eventLog, delivery.worker, ...jobs].map((part) => part.stop());
        await within(backgroundMs, Promise.all([streamsStopped, ...stopping])).catch((cause) =>
          log.write('warn', 'stopped midway', { cause }),
        );
        await storeTokenUses().catch((cause) => log.write('warn', 'last uses of tokens lost', { cause }));
        await live.nodes.stop();
        await engine.close();
        log.flush();
      },
    };
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

/** Short, unique for all practical purposes, and cheap: one random part for the process and a count. */
function requestIds(runtime: Runtime): () => string {
  const prefix = Buffer.from(runtime.random(6)).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

function logFormat({ logFormat }: Settings): 'json' | 'text' {
  if (logFormat !== 'auto') return logFormat;
  return process.stdout.isTTY ? 'text' : 'json';
}
