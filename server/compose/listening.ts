import type { Server } from 'bun';
import { SettingError, type Settings } from '../config.ts';
import type { buildFetch } from '../http/app.ts';
import { idleTimeoutSeconds } from '../http/request-context.ts';

export function listen({ host, port }: Settings, fetch: ReturnType<typeof buildFetch>): Server<undefined> {
  try {
    return Bun.serve({
      hostname: host,
      port,
      fetch,
      idleTimeout: idleTimeoutSeconds,
      // Otherwise two servers with different data could silently share a port.
      reusePort: false,
      // Our own limits are lower. They give a response with a reason, the runtime's an empty one.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // The error page of the runtime shows paths and source code.
      development: false,
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      throw new SettingError(
        `Port ${port} on ${host} is taken, or ${host} is not an address of this machine. Choose others with PORT and HOST.`,
      );
    }
    throw new SettingError(`Cannot listen on ${host} port ${port}: ${(error as Error).message}`);
  }
}

/** Returns the URL to open on this machine. */
export function localUrl({ host: listened, port: asked }: Settings, port: number = asked): string {
  const host = listened === '0.0.0.0' || listened === '::' ? 'localhost' : listened;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
