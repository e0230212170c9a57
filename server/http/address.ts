import {
  type Address,
  contains,
  lastV4,
  type Network,
  parseNetworks,
  readAddress,
  writeV4,
} from '../domain/address.ts';

/** Which proxies are believed when they say whom a request came from. */
export type TrustedProxies =
  | { readonly kind: 'none' }
  /** So many stand between here and the world, wherever they are. */
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'networks'; readonly networks: readonly Network[] };

/** Reads the setting. Throws a few words that follow "must be". */
export function parseTrustedProxies(text: string): TrustedProxies {
  if (text === '' || text === 'off' || text === '0') return { kind: 'none' };
  if (/^\d$/.test(text)) return { kind: 'count', count: Number(text) };
  try {
    return { kind: 'networks', networks: parseNetworks(text) };
  } catch {
    throw new Error('off, a number of proxies from 1 to 9, or their networks such as 10.0.0.0/8, 127.0.0.1');
  }
}

/**
 * The address that a request came from: the connection's, or what the proxies that are trusted say. Each proxy puts the
 * address that it was called from at the end of X-Forwarded-For, so only what trusted ones wrote is read, from the end:
 * what stands before that, anybody may have sent.
 */
export function clientAddress(trusted: TrustedProxies, connection: string, forwardedFor: string | null): string {
  let client = readHop(connection);
  if (!client) return connection;
  if (trusted.kind === 'none' || forwardedFor === null) return write(client);
  // A list may have empty elements, which say nothing: a header line without a value makes one.
  const hops = forwardedFor.split(',').filter((hop) => hop.trim() !== '');
  for (let passed = 0; isTrusted(trusted, client, passed); passed++) {
    const before = readHop(hops.pop() ?? '');
    // What is no address was made up by somebody: whoever passed it on is as far as can be seen.
    if (!before) break;
    client = before;
  }
  return write(client);
}

function isTrusted(trusted: TrustedProxies, address: Address, passed: number): boolean {
  if (trusted.kind === 'networks') return trusted.networks.some((network) => contains(network, address));
  return trusted.kind === 'count' && passed < trusted.count;
}

/**
 * An address as proxies write it: some add the port, and IPv6 then stands in brackets. An IPv4 address that came in as IPv6
 * is the IPv4 address.
 */
function readHop(text: string): Address | undefined {
  const [, inBrackets, beforePort] = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text.trim()) ?? [];
  const address = readAddress(inBrackets ?? beforePort ?? text.trim());
  const isMapped = address?.family === 6 && address.value >> 32n === 0xffffn;
  return isMapped ? lastV4(address) : address;
}

const groupsOf = (value: bigint, shifts: readonly bigint[]): string =>
  shifts.map((shift) => ((value >> shift) & 0xffffn).toString(16)).join(':');

const upperHalf = [112n, 96n, 80n, 64n] as const;
const lowerHalf = [48n, 32n, 16n, 0n] as const;

/** One spelling for each address. */
function write(address: Address): string {
  if (address.family === 4) return writeV4(address);
  return new URL(`http://[${groupsOf(address.value, [...upperHalf, ...lowerHalf])}]`).hostname.slice(1, -1);
}

/** What a limit is counted by: whoever has one IPv6 address has 2^64 of them. */
export function limitKey(address: string): string {
  const read = readHop(address);
  if (!read) return address;
  return read.family === 4 ? writeV4(read) : `${groupsOf(read.value, upperHalf)}::/64`;
}
