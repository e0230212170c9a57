import type { Server } from 'bun';
import { SettingError, type Settings } from '../config.ts';
import type { buildFetch } from '../http/app.ts';
import { idleTimeoutSeconds } from '../http/request-context.ts';

export function listen({ host, port }: Settings, fetch: ReturnType<typeof buildFetch>): Server<undefined> {
  try {
    // Above every limit of ours, so that a body that is too large gets our answer and not the runtime's empty one.
    return Bun.serve({
      hostname: host,
      port,
      fetch,
      idleTimeout: idleTimeoutSeconds,
      // Without a word, two servers would otherwise share a port, each with data of its own.
      reusePort: false,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // The runtime's own page for what goes wrong once we have answered shows paths and source.
      development: false,
    });
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
export function localUrl({ host: listened, port: asked }: Settings, port: number = asked): string {
  const host = listened === '0.0.0.0' || listened === '::' ? 'localhost' : listened;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
