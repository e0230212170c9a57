import { isLoopbackHost } from '../domain/address.ts';
import { clientIp } from './client-ip.ts';
import type { Connections } from './request-context.ts';

/** Headers that proxies add, besides all that begin with `x-forwarded-`. */
const proxyHeaders = [
  ...['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-original-host', 'x-original-url'],
  ...['true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
];

/** A Host header, or X-Forwarded-Host, with one host. */
export const isHost = /^[^\s,/?#@\\]+$/;

/** Returns the host of a Host header as a URL, or undefined if it is not one host. */
export function readHost(text: string | null, protocol = 'http:'): URL | undefined {
  const url = `${protocol}//${text}`;
  return text !== null && isHost.test(text) && URL.canParse(url) ? new URL(url) : undefined;
}

/**
 * Returns whether a request may have been made elsewhere: a proxy passed it on, or its Host is not a name of this machine.
 * Some proxies pass a request without a Host on as it is.
 */
export const isForwarded = ({ headers }: Request): boolean =>
  proxyHeaders.some((name) => headers.has(name)) ||
  headers.keys().some((name) => name.startsWith('x-forwarded-')) ||
  !isLoopbackHost(readHost(headers.get('host'))?.hostname ?? '');

/** Returns whether a program on this machine made the request. Call it before the first await, as `clientIp`. */
export function isLocal(request: Request, connections: Connections): boolean {
  const peer = connections.requestIP(request)?.address ?? '';
  return isLoopbackHost(clientIp({ kind: 'none' }, peer, null)) && !isForwarded(request);
}
