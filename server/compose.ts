import { createSetupLink } from './auth/links.ts';
import { startBackgroundJobs } from './compose/background.ts';
import { type Cleanup, openCore } from './compose/core.ts';
import { buildHttp } from './compose/http.ts';
import { listen, localUrl } from './compose/listening.ts';
import { buildParts } from './compose/parts.ts';
import { processRuntime, type Runtime } from './compose/runtime.ts';
import type { Settings } from './config.ts';
import { isLoopbackHost } from './domain/address.ts';
import { withTimeout } from './lib/timeout.ts';
import { keepSetupLink } from './store/data-folder/setup-link.ts';

export { version } from './compose/core.ts';
export { processRuntime, type Runtime } from './compose/runtime.ts';

export interface Parley {
  readonly url: string;
  /** True if only programs on this machine can reach it. */
  readonly isLocal: boolean;
  /** The URL where the first administrator signs up. It is undefined if there is an administrator. */
  readonly setupLink: string | undefined;
  /** Finishes the accepted requests, takes no new ones, and closes everything. */
  stop(): Promise<void>;
}

/** Background jobs that wait for a storage that does not respond are abandoned after this time. */
const backgroundTimeoutMs = 15_000;

/** Aborted uploads that are not removed within this time are removed when they expire. */
const abortTimeoutMs = 2_000;

/** Starts a server. Rejects, and closes what it has opened, if one of its parts cannot start. */
export async function startParley(settings: Settings, runtime: Runtime = processRuntime): Promise<Parley> {
  const cleanup: Cleanup = [];
  try {
    return await start(settings, runtime, cleanup);
  } catch (error) {
    for (const step of cleanup.reverse()) await step();
    throw error;
  }
}

async function start(settings: Settings, runtime: Runtime, cleanup: Cleanup): Promise<Parley> {
  let port: number | undefined;
  let isStopping = false;
  const core = await openCore(settings, runtime, cleanup);
  const parts = await buildParts(core, () => port, cleanup);
  const http = buildHttp(core, parts, () => isStopping);
  const server = listen(settings, http.fetch);
  cleanup.push(() => server.stop(true));
  port = server.port;

  const { engine, eventLog, log } = core;
  const { backups, delivery, files, live, push, services, storeTokenUses } = parts;
  const jobs = startBackgroundJobs(core, parts, http.limits);
  eventLog.subscribe(() => delivery.worker.eventsCommitted());
  await delivery.worker.start();
  push.start();
  const secret = await createSetupLink(parts.services);
  const setupLink = secret && `${parts.origin()}/setup/${secret}`;
  keepSetupLink(settings.folder, setupLink);

  const stop = async () => {
    isStopping = true;
    log.write('info', 'stopping', { stop_delay_seconds: settings.stopDelay });
    // Before anything else: systemd and a terminal end the command of a backup at the same time as this process.
    backups.stop();
    await Bun.sleep(settings.stopDelay * 1_000);
    const abort = setTimeout(() => void server.stop(true), runtime.drainMs);
    const streamsStopped = live.streams.stop();
    // The streams end in the next turn of the event loop. Before that, the server would wait for those nobody reads.
    await Bun.sleep(0);
    const drained = server.stop();
    http.stopUploads();
    await drained;
    clearTimeout(abort);
    await within(abortTimeoutMs, files.uploads.settled()).catch(() => {});
    const stopping = [eventLog, delivery.worker, push, live.presence, ...jobs].map((part) => part.stop());
    await within(backgroundTimeoutMs, Promise.all([streamsStopped, ...stopping])).catch((cause) =>
      log.write('warn', 'stop_incomplete', { cause }),
    );
    await storeTokenUses().catch((cause) => log.write('warn', 'token_uses_lost', { cause }));
    await services.dailyMessages.store().catch((cause) => log.write('warn', 'message_counts_lost', { cause }));
    await live.nodes.stop();
    await engine.close();
    log.flush();
  };
  const isLocal = settings.publicUrl === undefined && isLoopbackHost(settings.host);
  return { url: localUrl(settings, port), isLocal, setupLink, stop };
}

const within = (ms: number, work: Promise<unknown>) =>
  withTimeout(ms, work, () => new Error(`no response within ${ms} ms`));
