import type { Server } from 'bun';
import { SettingError, type Settings } from '../config.ts';
import type { buildFetch } from '../http/app.ts';

export function listen({ host, port }: Settings, fetch: ReturnType<typeof buildFetch>): Server<undefined> {
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

/** The address to open on this machine. Where every address is listened on, the machine's own will do. */
export function localUrl({ hostname, port }: Server<undefined>): string {
  const host = hostname === '0.0.0.0' || hostname === '::' ? 'localhost' : (hostname ?? 'localhost');
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
