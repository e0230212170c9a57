import { type Network, readNetwork } from '../../domain/address.ts';

/**
 * The settings that allow webhooks into a range:
 * - `setting`: the operator opens the network;
 * - `loopback`: that, or the server itself listens on loopback only;
 * - `translated`: the operator opens the network, and the IPv4 address in the last 32 bits is allowed too;
 * - `never`: nothing. No endpoint is there, or the range is a second way to write addresses that are checked elsewhere.
 */
export type Opening = 'setting' | 'loopback' | 'translated' | 'never';

export interface SpecialRange {
  readonly network: Network;
  /** Follows "is" in a message. */
  readonly name: string;
  readonly opening: Opening;
}

type Row = readonly [network: string, name: string, opening: Opening];

/**
 * IANA's registries of special-purpose addresses, multicast, reserved ranges, and the addresses at which clouds hand out
 * credentials. The first row that contains an address applies, so narrower ranges stand first.
 */
const rows: readonly Row[] = [
  // Opening all of 169.254.0.0/16 or fd00::/8 must not open these.
  ['169.254.169.254/32', 'a cloud metadata address', 'never'],
  ['169.254.170.2/32', 'a cloud metadata address', 'never'],
  ['169.254.170.23/32', 'a cloud metadata address', 'never'],
  ['100.100.100.200/32', 'a cloud metadata address', 'never'],
  ['168.63.129.16/32', 'a cloud metadata address', 'never'],
  ['192.0.0.192/32', 'a cloud metadata address', 'never'],
  ['fd00:ec2::254/128', 'a cloud metadata address', 'never'],
  ['fd00:ec2::23/128', 'a cloud metadata address', 'never'],
  ['fd20:ce::254/128', 'a cloud metadata address', 'never'],

  ['0.0.0.0/8', 'an address of this machine', 'never'],
  ['10.0.0.0/8', 'a private address', 'setting'],
  ['100.64.0.0/10', 'a shared address of a provider', 'setting'],
  ['127.0.0.0/8', 'a loopback address', 'loopback'],
  ['169.254.0.0/16', 'a link-local address', 'setting'],
  ['172.16.0.0/12', 'a private address', 'setting'],
  ['192.0.0.0/24', 'an address for protocols', 'setting'],
  ['192.0.2.0/24', 'a documentation address', 'setting'],
  ['192.31.196.0/24', 'an address of AS112', 'setting'],
  ['192.52.193.0/24', 'an address for multicast tunnels', 'setting'],
  ['192.88.99.0/24', 'a 6to4 relay', 'setting'],
  ['192.168.0.0/16', 'a private address', 'setting'],
  ['192.175.48.0/24', 'an address of AS112', 'setting'],
  ['198.18.0.0/15', 'a benchmarking address', 'setting'],
  ['198.51.100.0/24', 'a documentation address', 'setting'],
  ['203.0.113.0/24', 'a documentation address', 'setting'],
  ['224.0.0.0/4', 'a multicast address', 'never'],
  ['255.255.255.255/32', 'the broadcast address', 'never'],
  ['240.0.0.0/4', 'a reserved address', 'setting'],

  ['::/128', 'the unspecified address', 'never'],
  ['::1/128', 'a loopback address', 'loopback'],
  ['::/96', 'an IPv4-compatible address', 'never'],
  ['::ffff:0:0/96', 'an IPv4-mapped address', 'never'],
  ['::ffff:0:0:0/96', 'an IPv4-translated address', 'never'],
  ['64:ff9b::/96', 'a NAT64 address', 'translated'],
  // The operator chooses where the IPv4 address stands in these, and whether to open them.
  ['64:ff9b:1::/48', 'a local NAT64 address', 'setting'],
  ['100::/64', 'a discard address', 'never'],
  ['100:0:0:1::/64', 'a dummy address', 'never'],
  ['2001::/32', 'a Teredo address', 'never'],
  ['2001:2::/48', 'a benchmarking address', 'setting'],
  ['2001:10::/28', 'an ORCHID identifier', 'never'],
  ['2001:20::/28', 'an ORCHID identifier', 'never'],
  ['2001::/23', 'an address for protocols', 'setting'],
  ['2001:db8::/32', 'a documentation address', 'setting'],
  ['2002::/16', 'a 6to4 address', 'never'],
  ['2620:4f:8000::/48', 'an address of AS112', 'setting'],
  ['3fff::/20', 'a documentation address', 'setting'],
  ['5f00::/16', 'a segment routing identifier', 'setting'],
  ['fc00::/7', 'a private (unique local) address', 'setting'],
  ['fe80::/10', 'a link-local address', 'setting'],
  ['fec0::/10', 'a site-local address', 'setting'],
  ['ff00::/8', 'a multicast address', 'never'],
  // Only 2000::/3 is assigned for the internet.
  ['::/3', 'a reserved address', 'setting'],
  ['4000::/2', 'a reserved address', 'setting'],
  ['8000::/1', 'a reserved address', 'setting'],
];

export const specialRanges: readonly SpecialRange[] = rows.map(([network, name, opening]) => ({
  network: readNetwork(network),
  name,
  opening,
}));
