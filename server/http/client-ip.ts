import {
  type Address,
  contains,
  lastV4,
  type Network,
  parseNetworks,
  readAddress,
  writeV4,
} from '../domain/address.ts';

/** The proxies whose X-Forwarded-For is trusted. */
export type TrustedProxies =
  | { readonly kind: 'none' }
  /** The number of proxies between clients and this server. */
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'networks'; readonly networks: readonly Network[] };

/** Parses the setting. Throws words that follow "must be". */
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
 * Returns the IP of the client: of the connection, or the one that trusted proxies report. Each proxy appends the IP of its
 * client to X-Forwarded-For. So the list is read from the end, and only as far as trusted proxies wrote it: a client can send
 * anything before that.
 */
export function clientIp(trusted: TrustedProxies, connection: string, forwardedFor: string | null): string {
  let client = readHop(connection);
  if (!client) return connection;
  if (trusted.kind === 'none' || forwardedFor === null) return write(client);
  // An empty header line adds an empty element.
  const hops = forwardedFor.split(',').filter((hop) => hop.trim() !== '');
  for (let passed = 0; isTrusted(trusted, client, passed); passed++) {
    const before = readHop(hops.pop() ?? '');
    // The header has no IP here, so the last hop is the client.
    if (!before) break;
    client = before;
  }
  return write(client);
}

/** Returns whether a connection is from a trusted proxy. */
export function isTrustedProxy(trusted: TrustedProxies, connection: string): boolean {
  const address = readHop(connection);
  return address !== undefined && isTrusted(trusted, address, 0);
}

function isTrusted(trusted: TrustedProxies, address: Address, passed: number): boolean {
  if (trusted.kind === 'networks') return trusted.networks.some((network) => contains(network, address));
  return trusted.kind === 'count' && passed < trusted.count;
}

/** Parses an IP as proxies write it: with or without a port, IPv6 in brackets. An IPv4-mapped IPv6 becomes IPv4. */
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

/** Returns the canonical spelling. */
function write(address: Address): string {
  if (address.family === 4) return writeV4(address);
  return new URL(`http://[${groupsOf(address.value, [...upperHalf, ...lowerHalf])}]`).hostname.slice(1, -1);
}

/** Returns the key that limits count by. One client has a /64 network of IPv6. */
export const limitKey = (ip: string): string => networkOf(ip, 64);

/** Returns the networks that a client may control, the narrowest first. Customers get an IPv6 /56, and sites a /48. */
export function networksOf(ip: string): readonly string[] {
  return [...new Set([64, 56, 48].map((prefix) => networkOf(ip, prefix)))];
}

/** Returns the IPv6 network of at most 64 bits, or the IPv4 address. */
function networkOf(ip: string, prefix: number): string {
  const read = readHop(ip);
  if (!read) return ip;
  if (read.family === 4) return writeV4(read);
  const hostBits = BigInt(128 - prefix);
  return `${groupsOf((read.value >> hostBits) << hostBits, upperHalf)}::/${prefix}`;
}
