import { isTrustedProxy, type TrustedProxies } from './client-ip.ts';
import { isHost, isLocal, readHost } from './forwarded.ts';
import type { Connections } from './request-context.ts';
import { HttpError } from './responses.ts';

export interface HostDeps {
  readonly publicUrl: URL | undefined;
  readonly trustedProxies: TrustedProxies;
}

/**
 * Returns an error if the request has not exactly one Host header, or is for another host than `PUBLIC_URL`. A trusted
 * proxy may name the host in X-Forwarded-Host instead. Programs on this machine may use its loopback names.
 */
export function hostError(
  { publicUrl, trustedProxies }: HostDeps,
  request: Request,
  connections: Connections,
): HttpError | undefined {
  const host = request.headers.get('host');
  // Bun merges several headers into one, with commas.
  if (host !== null && !isHost.test(host)) {
    return new HttpError('invalid_request', 'Send one Host header with a host name, and a port if needed.', {});
  }
  if (!publicUrl || isHostOf(publicUrl, host) || isLocal(request, connections)) return undefined;
  const forwarded = request.headers.get('x-forwarded-host')?.split(',').at(-1)?.trim();
  const peer = connections.requestIP(request)?.address ?? '';
  if (forwarded && isHostOf(publicUrl, forwarded) && isTrustedProxy(trustedProxies, peer)) return undefined;
  const advice = 'Use this URL. If you use it, the proxy must pass on the Host header.';
  return new HttpError('invalid_request', `Parley runs at ${publicUrl.origin}. ${advice}`, {}, 421);
}

const isHostOf = (publicUrl: URL, host: string | null): boolean =>
  host === publicUrl.host || readHost(host, publicUrl.protocol)?.host === publicUrl.host;
