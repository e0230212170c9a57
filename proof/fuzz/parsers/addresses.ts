import { expect } from 'bun:test';
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { contains, readAddress, readNetwork } from '../../../server/domain/address.ts';
import { clientIp, limitKey, parseTrustedProxies } from '../../../server/http/client-ip.ts';
import { AddressRefusal, Guard } from '../../../server/webhooks/ssrf/guard.ts';
import { headerText, token, wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, isPlainError, outcome, outcomeOf } from './outcome.ts';

const v4 = fc.ipV4();
const v6 = fc.ipV6();
const family = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');

/** The runtime's own list of networks must agree. */
const networks = fc.property(
  fc.oneof(fc.tuple(v4, fc.nat({ max: 33 }), v4), fc.tuple(v6, fc.nat({ max: 129 }), v6)),
  ([base, prefix, probe]) => {
    const text = `${base}/${prefix}`;
    const { value: network } = outcome(() => readNetwork(text), isPlainError);
    if (!network) return;
    const list = new BlockList();
    list.addSubnet(base, prefix, family(base));
    for (const address of [base, probe]) {
      const read = readAddress(address);
      expect(read && contains(network, read)).toBe(list.check(address, family(address)));
    }
  },
);

const anySetting = fc.property(fc.oneof(wildText, fc.stringMatching(/^[\d./:a-f, ]{0,30}$/)), (text) => {
  const { value } = outcome(() => parseTrustedProxies(text), isPlainError);
  if (value?.kind === 'count') expect(value.count).toBeGreaterThan(0);
});

const hop = fc.oneof(
  v4,
  v4.map((address) => `${address}:8080`),
);

/** Each trusted proxy vouches for one hop. Earlier hops change nothing. */
const forwarded = fc.property(
  fc.integer({ min: 1, max: 5 }),
  fc.array(hop, { minLength: 5, maxLength: 8 }),
  fc.array(fc.oneof(headerText, v4)),
  (count, hops, made) => {
    const answer = clientIp({ kind: 'count', count }, '127.0.0.1', [...made, ...hops].join(', '));
    expect(answer).toBe(String(hops.at(-count)).replace(/:\d+$/, ''));
  },
);

const anyForwarded = fc.property(
  fc.oneof(headerText, fc.array(fc.oneof(hop, v6), { maxLength: 6 }).map(String)),
  v4,
  (header, own) => {
    expect(clientIp({ kind: 'none' }, own, header)).toBe(own);
    for (const count of [1, 3]) expect(readAddress(clientIp({ kind: 'count', count }, own, header))).toBeDefined();
  },
);

/** All addresses of an IPv6 network count as one client. */
const limits = fc.property(v6, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (address, other) => {
  const read = readAddress(address);
  // A mapped IPv4 address counts by itself.
  fc.pre(read !== undefined && read.value >> 32n !== 0xffffn && read.value >> 64n !== 0n);
  const neighbour = (((read?.value ?? 0n) >> 64n) << 64n) | other;
  const groups = Array.from({ length: 8 }, (_, i) => ((neighbour >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
  expect(limitKey(groups.join(':'))).toBe(limitKey(address));
});

const guard = new Guard({
  openNetworks: [],
  loopbackAllowed: false,
  ownPort: () => undefined,
  monotonic: () => performance.now(),
  resolve: async () => ['93.184.216.34'],
});

const verdict = async (url: string) => {
  const { value } = await outcomeOf(async () => guard.target(guard.readUrl(url)), isA(AddressRefusal));
  return value?.address;
};

const bytesOf = (address: string) => address.split('.').map(Number);
const inBytes = (address: string, write: (byte: number) => string) => bytesOf(address).map(write).join('.');

/** The ways in which browsers and libraries write one IPv4 address. */
const spellings: readonly ((address: string) => string)[] = [
  (address) => inBytes(address, (byte) => `0x${byte.toString(16)}`),
  (address) => inBytes(address, (byte) => `0${byte.toString(8)}`),
  (address) => String(bytesOf(address).reduce((sum, byte) => sum * 256 + byte, 0)),
  (address) => address.replaceAll('.', '。'),
  (address) => `${address}.`,
];

const spelled = fc.asyncProperty(
  fc.oneof(v4, fc.constantFrom('127.0.0.1', '10.1.2.3', '169.254.169.254', '0.0.0.0', '8.8.8.8')),
  fc.constantFrom(...spellings),
  async (address, spell) =>
    expect(await verdict(`http://${spell(address)}/`)).toBe(await verdict(`http://${address}/`)),
);

const urlTokens = 'http: https: HTTP: ftp: // / \\ @ : # ? [::1] 127.0.0.1 %00 . .. ü :0 :80 :65536 %2e ／ ℀';
const urlPiece = token(urlTokens, 'x'.repeat(64), 'a.'.repeat(130), '\t', '\n', ' ');

const anyUrl = fc.property(fc.array(urlPiece, { maxLength: 8 }), fc.boolean(), (pieces, isWeb) => {
  const text = `${isWeb ? 'http://' : ''}${pieces.join('')}`;
  const { value: url } = outcome(() => guard.readUrl(text), isA(AddressRefusal));
  if (!url) return;
  expect(url.href).toMatch(/^https?:\/\/[^@/?#]+\/[^#]*$/);
  expect(url.href.length).toBeLessThanOrEqual(2_048);
  expect(guard.readUrl(url.href).href).toBe(url.href);
});

/** A final dot and a fragment do not change the URL. */
const named = fc.property(fc.domain(), fc.webPath(), (name, path) => {
  const plain = guard.readUrl(`http://${name}${path}`).href;
  expect(guard.readUrl(`HTTP://${name.toUpperCase()}.${path}#fragment`).href).toBe(plain);
});

export const addresses = [
  subject('a network holds what the runtime says it holds', 300, networks),
  subject('trusted proxies are read or refused', 200, anySetting),
  subject('nothing before the trusted hops is believed', 200, forwarded),
  subject('any X-Forwarded-For leaves an address', 200, anyForwarded),
  subject('all of an IPv6 network counts as one', 200, limits),
  subject('an address is judged the same however it is written', 200, spelled),
  subject('a name is the same in each of its spellings', 200, named),
  subject('any URL of a webhook is made plain or refused', 400, anyUrl),
];
