import { isIP } from 'node:net';

/** An IP address as a number, so that a network is a range of numbers. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface Network {
  /** The text that it was parsed from. */
  readonly text: string;
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

const bitsOf = { 4: 32, 6: 128 } as const;

/** Returns undefined for anything but a plain address: a name, a short or octal form, or one with a zone. */
export function readAddress(text: string): Address | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: readV4(text) };
  if (family === 6 && !text.includes('%')) return { family, value: readV6(text) };
  return undefined;
}

const readV4 = (text: string): bigint => text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);

function readV6(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const before = readGroups(head);
  const after = readGroups(tail);
  const between = Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...between, ...after].reduce((value, group) => (value << 16n) | group, 0n);
}

function readGroups(text: string): bigint[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const dotted = readV4(group);
    return [dotted >> 16n, dotted & 0xffffn];
  });
}

/** The IPv4 address in the last 32 bits of an IPv6 one. */
export const lastV4 = (address: Address): Address => ({ family: 4, value: address.value & 0xffff_ffffn });

export const writeV4 = (address: Address): string =>
  [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join('.');

export const contains = (network: Network, address: Address): boolean =>
  network.family === address.family && network.first <= address.value && address.value <= network.last;

/** Returns whether a host of a URL is this machine by its name or address. No name is looked up. */
export const isLoopbackHost = (host: string): boolean =>
  /^(([a-z\d_-]+\.)*localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

const expected = 'networks such as 10.0.0.0/8 or addresses such as 192.168.1.5, separated by commas';

/** Parses an address or a CIDR block. Throws a text that follows "must be". */
export function readNetwork(text: string): Network {
  const [, base = '', prefix] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = readAddress(base);
  if (!address) throw new Error(expected);
  const bits = bitsOf[address.family];
  const length = prefix === undefined ? bits : Number(prefix);
  if (length > bits) throw new Error(expected);
  const span = 1n << BigInt(bits - length);
  // 192.168.1.5/24 may mean one address or 256. A guard must not guess the larger.
  if (address.value % span !== 0n) {
    throw new Error(`networks that start at their first address, which ${text} does not`);
  }
  return { text, family: address.family, first: address.value, last: address.value + span - 1n };
}

/** Parses networks separated by commas. Throws a text that follows "must be". */
export function parseNetworks(text: string): readonly Network[] {
  if (text.trim() === '') return [];
  return text.split(',').map((part) => readNetwork(part.trim()));
}
