import { isLoopbackHost } from '../domain/address.ts';

/** Headers that proxies add. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Returns whether a request was made elsewhere: a proxy passed it on, or its Host is not a name of this machine. */
export const isForwarded = ({ headers, url }: Request): boolean =>
  proxyHeaders.some((name) => headers.has(name)) || !isLoopbackHost(new URL(url).hostname);
