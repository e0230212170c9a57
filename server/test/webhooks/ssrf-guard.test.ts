import { describe, expect, test } from 'bun:test';
import { BlockList, isIP } from 'node:net';
import type { ParleyError } from '@parley/contract';
import fc from 'fast-check';
import { parseNetworks, readAddress } from '../../domain/address.ts';
import { AddressRefusal, checkUrl, Guard, type GuardOptions, type Target } from '../../webhooks/ssrf/guard.ts';
import { NameFailure, resolveName } from '../../webhooks/ssrf/resolve.ts';

const unasked = (name: string): Promise<never> => Promise.reject(new Error(`${name} must not be looked up`));

const guardWith = (options: Partial<GuardOptions> = {}) =>
  new Guard({
    openNetworks: [],
    loopbackAllowed: false,
    ownPort: () => 8080,
    resolve: unasked,
    monotonic: () => performance.now(),
    ...options,
  });

const resolvingTo = (...addresses: string[]) => guardWith({ resolve: async () => addresses });

/** Reads the URL and returns the address to connect to, like a delivery. */
const aim = async (guard: Guard, url: string): Promise<Target> => guard.target(guard.readUrl(url));

const urlOf = (address: string) => (isIP(address) === 6 ? `http://[${address}]/hook` : `http://${address}/hook`);

/** The detail of the refusal, or the address that would be dialled. */
async function verdictOf(guard: Guard, url: string): Promise<string> {
  try {
    return (await aim(guard, url)).address;
  } catch (error) {
    if (error instanceof AddressRefusal) return `refused: ${error.detail}`;
    throw error;
  }
}

const f = 'ffff:ffff:ffff';

type Range = readonly [word: string, first: string, last: string, before?: string | undefined, after?: string];

/** Written down from the registries, apart from the server's table: each range, and its neighbours where those are public. */
const ranges: readonly Range[] = [
  ['this machine', '0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
  ['private', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['shared', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['loopback', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['metadata', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['link-local', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['private', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['protocols', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['documentation', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['AS112', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['multicast tunnels', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['6to4', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['private', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['AS112', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['benchmarking', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['documentation', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['documentation', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['multicast', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.254'],
  ['broadcast', '255.255.255.255', '255.255.255.255'],

  ['unspecified', '::', '::'],
  ['loopback', '::1', '::1'],
  ['IPv4-compatible', '::2', '::ffff:ffff'],
  ['reserved', '::1:0:0', '::fffe:ffff:ffff'],
  ['IPv4-mapped', '::ffff:0:0', '::ffff:ffff:ffff'],
  ['reserved', '::1:0:0:0', '::fffe:ffff:ffff:ffff'],
  ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['reserved', '::ffff:1:0:0', `64:ff9a:${f}:${f}`],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['reserved', '64:ff9b::1:0:0', `64:ff9b:0:${f}:ffff:ffff`],
  ['NAT64', '64:ff9b:1::', `64:ff9b:1:${f}:ffff:ffff`],
  ['reserved', '64:ff9b:2::', `ff:ffff:${f}:${f}`],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff'],
  ['reserved', '100:0:0:2::', `1fff:ffff:${f}:${f}`, undefined, '2000::'],
  ['Teredo', '2001::', `2001:0:${f}:${f}`, `2000:ffff:${f}:${f}`],
  ['protocols', '2001:1::', `2001:1:${f}:${f}`],
  ['benchmarking', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['protocols', '2001:2:1::', `2001:f:${f}:${f}`],
  ['ORCHID', '2001:10::', `2001:1f:${f}:${f}`],
  ['ORCHID', '2001:20::', `2001:2f:${f}:${f}`],
  ['protocols', '2001:30::', `2001:1ff:${f}:${f}`, undefined, '2001:200::'],
  ['documentation', '2001:db8::', `2001:db8:${f}:${f}`, `2001:db7:${f}:${f}`, '2001:db9::'],
  ['6to4', '2002::', `2002:ffff:${f}:${f}`, `2001:ffff:${f}:${f}`, '2003::'],
  ['AS112', '2620:4f:8000::', `2620:4f:8000:${f}:ffff:ffff`, `2620:4f:7fff:${f}:ffff:ffff`, '2620:4f:8001::'],
  ['documentation', '3fff::', `3fff:fff:${f}:${f}`, `3ffe:ffff:${f}:${f}`, '3fff:1000::'],
  ['reserved', '4000::', `5eff:ffff:${f}:${f}`, `3fff:ffff:${f}:${f}`],
  ['segment routing', '5f00::', `5f00:ffff:${f}:${f}`],
  ['reserved', '5f01::', `fbff:ffff:${f}:${f}`],
  ['unique local', 'fc00::', `fdff:ffff:${f}:${f}`],
  ['reserved', 'fe00::', `fe7f:ffff:${f}:${f}`],
  ['link-local', 'fe80::', `febf:ffff:${f}:${f}`],
  ['site-local', 'fec0::', `feff:ffff:${f}:${f}`],
  ['multicast', 'ff00::', `ffff:ffff:${f}:${f}`],
];

const metadata = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
];

describe('an address of a special range is refused', () => {
  const guard = guardWith();

  for (const [word, first, last, before, after] of ranges) {
    test(`from ${first} to ${last}: ${word}`, async () => {
      for (const address of [first, last]) {
        expect(await verdictOf(guard, urlOf(address))).toMatch(new RegExp(`^refused: ${address} is .*${word}`));
      }
      for (const address of [before, after].filter((neighbour) => neighbour !== undefined)) {
        expect(await verdictOf(guard, urlOf(address))).toBe(address);
      }
    });
  }

  test('as metadata where a cloud keeps its credentials', async () => {
    for (const address of metadata) expect(await verdictOf(guard, urlOf(address))).toContain('cloud metadata');
  });

  test('and no other is', async () => {
    // One list for each family: in a common one a mapped range holds IPv4 too.
    const special = { ipv4: new BlockList(), ipv6: new BlockList() };
    const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
    for (const [, first, last] of ranges) special[familyOf(first)].addRange(first, last, familyOf(first));
    const byte = fc.integer({ min: 0, max: 255 });
    const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }));
    const first = fc.oneof(
      fc.constantFrom(0x64, 0x100, 0x2001, 0x2002, 0x2620, 0x3fff, 0x5f00, 0xfd00, 0xfe80),
      fc.integer({ min: 0, max: 0xffff }),
    );
    const v4 = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join('.'));
    const v6 = fc
      .tuple(first, group, group, group, group, group, group, group)
      .map((parts) => parts.map((part) => part.toString(16)).join(':'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(v4, v6), async (address) => {
        const refused = (await verdictOf(guard, urlOf(address))).startsWith('refused');
        expect({ address, refused }).toEqual({
          address,
          refused: special[familyOf(address)].check(address, familyOf(address)),
        });
      }),
      { numRuns: 2_000 },
    );
  });

  test('however it is read: the number of an address is that of its usual spelling', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((part) => part.toString(16).padStart(4, '0')).join(':');
        const usual = new URL(`http://[${long}]`).hostname.slice(1, -1);
        const value = groups.reduce((sum, part) => sum * 65_536n + BigInt(part), 0n);
        expect(readAddress(long)).toEqual({ family: 6, value });
        expect(readAddress(usual)).toEqual({ family: 6, value });
      }),
    );
    expect(readAddress('::ffff:1.2.3.4')).toEqual({ family: 6, value: 0xffff_0102_0304n });
  });
});

describe('a URL is judged by what it dials', () => {
  const spellings = [
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.0.0.1./',
    'http://127.0.0.1../',
    'http://0177.0.0.01/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://127.0.0.1%2e/',
    'http:127.0.0.1',
    'http:///127.0.0.1',
    'http:\\\\127.0.0.1\\@example.com/',
    ' http://127.0.0.1\n',
    'ht\ntp://127.0.0.1/',
  ];
  for (const spelling of spellings) {
    test(`${JSON.stringify(spelling)} is loopback`, async () => {
      expect(await verdictOf(guardWith(), spelling)).toStartWith('refused: 127.0.0.1 is a loopback address');
      expect(await verdictOf(guardWith({ loopbackAllowed: true }), spelling)).toBe('127.0.0.1');
    });
  }

  const embedding: Record<string, string> = {
    'IPv4-mapped': '[::ffff:10.0.0.1]',
    'IPv4-mapped, in hex': '[::ffff:a00:1]',
    'IPv4-mapped, of a public address': '[::ffff:8.8.8.8]',
    'IPv4-compatible': '[::10.0.0.1]',
    'IPv4-translated': '[::ffff:0:10.0.0.1]',
    NAT64: '[64:ff9b::10.0.0.1]',
    'NAT64 of a local prefix': '[64:ff9b:1::10.0.0.1]',
    '6to4': '[2002:a00:1::1]',
    Teredo: '[2001:0:808:808::f5ff:fffe]',
    'the unspecified address of IPv4': '0',
    'the unspecified address of IPv6': '[::]',
  };
  for (const [form, host] of Object.entries(embedding)) {
    test(`${form} is refused, also where private and loopback networks are open`, async () => {
      const open = guardWith({ openNetworks: parseNetworks('10.0.0.0/8, 127.0.0.0/8'), loopbackAllowed: true });
      expect(await verdictOf(open, `http://${host}/`)).toStartWith('refused: ');
    });
  }

  const unfit: Record<string, readonly string[]> = {
    'must be a URL': [
      '',
      'example.com/hook',
      '/hook',
      'http://',
      'http://a b/',
      'http://a:65536/',
      'http://256.1.1.1/',
      'http://1.2.3.4.5/',
      'http://4294967296/',
      'http://[fe80::1%25eth0]/',
      'http://[fe80::1%eth0]/',
      'http://[::1',
      'http://a%00b/',
    ],
    'must begin with https:// or http://': [
      'ftp://example.com/',
      'file:///etc/passwd',
      'ws://example.com/',
      'javascript:alert(1)',
      'data:,x',
      'unix:/run/x.sock',
    ],
    'must not contain credentials': [
      'http://user@example.com/',
      'http://user:pass@example.com/',
      'http://:pass@example.com/',
    ],
    'must have a port': ['http://example.com:0/'],
    'must have a host name': [
      'http://a..b/',
      'http://.a/',
      'http://a../',
      'http://./',
      'http://a*b/',
      'http://a,b/',
      `http://${'a'.repeat(64)}.com/`,
      `http://${'a.'.repeat(130)}com/`,
    ],
    'must have at most 2048 characters': [
      `http://example.com/${'a'.repeat(2_048)}`,
      `http://example.com/${'ä'.repeat(1_000)}`,
    ],
  };
  for (const [message, texts] of Object.entries(unfit)) {
    test(`one that ${message} says so`, () => {
      for (const text of texts) {
        expect(() => guardWith().readUrl(text)).toThrow(AddressRefusal);
        expect(() => guardWith().readUrl(text)).toThrow(message);
      }
    });
  }

  test('its fragment and the dot at the end of its name are dropped; the rest stays as the parser writes it', () => {
    const read = (text: string) => guardWith().readUrl(text).href;
    expect(read('HTTPS://Hooks.Example.com.:8443/a%20b?c=d#e')).toBe('https://hooks.example.com:8443/a%20b?c=d');
    expect(read('http://example.com/#')).toBe('http://example.com/');
    expect(read('http://bücher.example:80')).toBe('http://xn--bcher-kva.example/');
    expect(read('http://[2606:4700:0:0::1]:81/')).toBe('http://[2606:4700::1]:81/');
    expect(read(`http://example.com/${'a'.repeat(2_029)}`)).toHaveLength(2_048);
  });
});

describe('a name', () => {
  test('leads to its address, IPv4 first, the others in their order', async () => {
    const guard = resolvingTo('2606:4700::1', '93.184.216.34', '2606:4700::2', '93.184.216.35', '93.184.216.34');
    expect(await aim(guard, 'https://hooks.example.com/x')).toEqual({
      url: new URL('https://hooks.example.com/x'),
      address: '93.184.216.34',
      family: 4,
      others: ['93.184.216.35', '2606:4700::1', '2606:4700::2'],
    });
    expect((await aim(resolvingTo('2606:4700::1'), 'http://six.example.com')).family).toBe(6);
  });

  const bad = ['10.0.0.5', '127.0.0.1', '::1', '::ffff:8.8.8.8', 'fe80::1', 'fe80::1%eth0', '0.0.0.0', 'nonsense', ''];
  test('is refused without its address, which only administrators see', async () => {
    const guard = resolvingTo('10.0.0.5');
    const check = (isAdmin: boolean) =>
      checkUrl(guard, 'http://intranet.example.com/', { isForwarded: false, isAdmin }).catch((error) =>
        JSON.stringify((error as ParleyError).details),
      );
    expect(await check(false)).toContain('intranet.example.com leads to a private address; the setting');
    expect(await check(true)).toContain('intranet.example.com leads to 10.0.0.5, a private address (10.0.0.0/8)');
    const refused = await aim(guard, 'http://intranet.example.com/').catch((error: unknown) => error);
    expect((refused as AddressRefusal).message).not.toContain('10.0.0');
  });

  test('on loopback is refused to forwarded requests, unless the setting opens it', async () => {
    let count = 0;
    const forwardedRefused = () => void count++;
    for (const address of ['127.0.0.1', '::1', '127.8.9.10']) {
      const options = { loopbackAllowed: true, resolve: async () => [address], forwardedRefused };
      const reached = async (guard: Guard, isForwarded: boolean) => {
        try {
          return (await guard.target(guard.readUrl('http://hooks.localhost/'), isForwarded)).address;
        } catch (error) {
          return error;
        }
      };
      const guard = guardWith(options);
      expect(await reached(guard, false)).toBe(address);
      // The second time the name is cached.
      const isRefused = async () => (await reached(guard, true)) instanceof AddressRefusal;
      expect([await isRefused(), await isRefused()]).toEqual([true, true]);
      const open = guardWith({ ...options, openNetworks: parseNetworks('127.0.0.0/8, ::1') });
      expect(await reached(open, true)).toBe(address);
    }
    expect(count).toBe(6);
  });

  for (const address of bad) {
    test(`with ${JSON.stringify(address)} among its addresses is refused, wherever it stands`, async () => {
      for (const addresses of [
        [address],
        [address, '93.184.216.34'],
        ['93.184.216.34', '2606:4700::1', '1.1.1.1', '8.8.8.8', '9.9.9.9', address],
      ]) {
        const verdict = await verdictOf(resolvingTo(...addresses), 'http://hooks.example.com/');
        expect(verdict).toStartWith(`refused: hooks.example.com leads to ${address}`);
      }
    });
  }

  test('is looked up once, and what was judged is what is dialled, also if the name leads elsewhere a moment later', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return answers[asked.length - 1] ?? [];
    };
    const rebinding = guardWith({ resolve });
    const targets = await Promise.all([1, 2, 3].map((n) => aim(rebinding, `http://hooks.example.com/${n}`)));
    expect(targets.map((target) => target.address)).toEqual(Array(3).fill('93.184.216.34'));
    expect(targets.map((target) => target.url.pathname)).toEqual(['/1', '/2', '/3']);
    expect(rebinding.target(new URL('http://hooks.example.com/4'))).toMatchObject({ address: '93.184.216.34' });
    expect(asked).toEqual(['hooks.example.com']);
  });

  test('is looked up and checked again after five seconds', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1'], ['93.184.216.35']];
    let now = 1;
    const changing = guardWith({ resolve: async () => answers.shift() ?? [], monotonic: () => now });
    const url = 'http://hooks.example.com/';
    expect(await verdictOf(changing, url)).toBe('93.184.216.34');
    now += 5_000;
    expect(await verdictOf(changing, url)).toBe('93.184.216.34');
    now += 1;
    expect(await verdictOf(changing, url)).toContain('127.0.0.1');
    expect(await verdictOf(changing, url)).toBe('93.184.216.35');
  });

  test('that does not resolve is a failure of the name, and the next attempt looks again', async () => {
    const answers: (readonly string[] | Error)[] = [
      [],
      new Error('dns said: secret detail'),
      new NameFailure('the name gone.example.com does not resolve', 'dns'),
      ['93.184.216.34'],
    ];
    const resolve = async () => {
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const guard = guardWith({ resolve });
    const url = 'http://gone.example.com/';
    for (const [message, cause] of [
      ['does not resolve', 'dns'],
      ['cannot be looked up', 'dns_unavailable'],
      ['does not resolve', 'dns'],
    ] as const) {
      const failure = await aim(guard, url).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(NameFailure);
      expect(failure).toMatchObject({ failure: cause });
      expect(String(failure)).toContain(`gone.example.com ${message}`);
    }
    expect(await verdictOf(guard, url)).toBe('93.184.216.34');
  });

  test('of this machine is found without a name server; one that cannot exist is not', async () => {
    const local = await resolveName('localhost');
    expect(local.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
    await expect(resolveName('nobody.invalid')).rejects.toBeInstanceOf(NameFailure);
  });
});

describe('an IP address is checked without a promise', () => {
  test('without a promise, the first time and every other', () => {
    const guard = guardWith();
    const url = guard.readUrl('http://93.184.216.34:81/');
    for (let i = 0; i < 3; i++) {
      expect(guard.target(url)).toEqual({ url, address: '93.184.216.34', family: 4, others: [] });
    }
    const six = guard.readUrl('http://[2606:4700::1]/');
    expect(guard.target(six)).toEqual({ url: six, address: '2606:4700::1', family: 6, others: [] });
  });
});

describe('loopback', () => {
  const hosts = ['127.0.0.1', '127.8.9.10', '[::1]', 'localhost'];
  const resolve = async () => ['::1', '127.0.0.1'];

  test('is closed unless the server listens on loopback only, and the refusal says so', async () => {
    for (const host of hosts) {
      const verdict = await verdictOf(guardWith({ resolve }), `http://${host}:3000/`);
      expect(verdict).toContain('a loopback address');
      expect(verdict).toContain('while Parley itself is served on loopback alone');
      expect(verdict).toContain('PARLEY_WEBHOOK_NETWORKS');
      const allowed = guardWith({ resolve, loopbackAllowed: true });
      expect(await verdictOf(allowed, `http://${host}:3000/`)).not.toContain('refused');
    }
  });

  test('is closed to other names that lead to it, also from this machine, unless the setting opens it', async () => {
    const url = 'http://hooks.example.com:3000/';
    const refused = await verdictOf(guardWith({ resolve, loopbackAllowed: true }), url);
    expect(refused).toBe(
      'refused: hooks.example.com leads to ::1, a loopback address; the setting PARLEY_WEBHOOK_NETWORKS can open it',
    );
    const open = guardWith({ resolve, loopbackAllowed: true, openNetworks: parseNetworks('127.0.0.0/8, ::1') });
    expect(await verdictOf(open, url)).toBe('127.0.0.1');
  });

  test('is not registered from elsewhere by a name of this machine that does not resolve yet', async () => {
    const guard = guardWith({ resolve: async () => [], loopbackAllowed: true });
    const check = (url: string, isForwarded: boolean) => checkUrl(guard, url, { isForwarded, isAdmin: false });
    expect(await check('http://hooks.localhost/', false)).toBe('http://hooks.localhost/');
    expect(await check('http://hooks.example.com/', true)).toBe('http://hooks.example.com/');
    const refused = await check('http://hooks.localhost/', true).catch((error) => (error as ParleyError).details);
    expect(JSON.stringify(refused)).toContain('proxy');
  });

  test('never leads to the server itself, however it is opened', async () => {
    const opened = parseNetworks('127.0.0.0/8, ::1');
    for (const host of hosts) {
      for (const open of [{ loopbackAllowed: true }, { openNetworks: opened }]) {
        const guard = guardWith({ resolve, ...open });
        expect(await verdictOf(guard, `http://${host}:8080/api`)).toContain('lead back to Parley itself');
        expect(await verdictOf(guard, `https://${host}:8080/api`)).toContain('lead back to Parley itself');
      }
      const onPort80 = guardWith({ resolve, loopbackAllowed: true, ownPort: () => 80 });
      expect(await verdictOf(onPort80, `http://${host}/`)).toContain('lead back to Parley itself');
      expect(await verdictOf(onPort80, `https://${host}/`)).not.toContain('refused');
    }
  });

  test('is judged by the port of the moment: it is known only once the server listens', async () => {
    let port: number | undefined;
    const guard = guardWith({ resolve, loopbackAllowed: true, ownPort: () => port });
    expect(await verdictOf(guard, 'http://localhost:4321/')).not.toContain('refused');
    port = 4321;
    expect(await verdictOf(guard, 'http://localhost:4321/')).toContain('lead back to Parley itself');
  });
});

describe('networks that the operator opens', () => {
  const opening = (networks: string, url: string) =>
    verdictOf(guardWith({ openNetworks: parseNetworks(networks) }), url);

  test('are reached, and nothing beside them', async () => {
    const networks = ' 10.0.0.0/8,192.168.1.5 , fd00::/8 ';
    expect(await opening(networks, 'http://10.255.255.255/')).toBe('10.255.255.255');
    expect(await opening(networks, 'http://192.168.1.5/')).toBe('192.168.1.5');
    expect(await opening(networks, 'http://[fd12::1]/')).toBe('fd12::1');
    for (const host of ['192.168.1.4', '192.168.1.6', '172.16.0.1', '127.0.0.1', '[fc00::1]', '[::ffff:10.0.0.1]']) {
      expect(await opening(networks, `http://${host}/`)).toStartWith('refused');
    }
  });

  test('are named by the refusals that they would lift, and only by those', async () => {
    expect(await opening('', 'http://10.1.2.3/')).toBe(
      'refused: 10.1.2.3 is a private address (10.0.0.0/8); the setting PARLEY_WEBHOOK_NETWORKS can open it',
    );
    expect(await opening('', 'http://224.0.0.1/')).toBe(
      'refused: 224.0.0.1 is a multicast address (224.0.0.0/4); no setting opens it',
    );
  });

  test('do not hold metadata, multicast, the unspecified address, or second spellings of IPv4, even if they hold all', async () => {
    const all = '0.0.0.0/0, ::/0';
    const closed = ['0.0.0.0', '0.1.2.3', '224.0.0.1', '255.255.255.255', '::', '::ffff:10.0.0.1', '::10.0.0.1'];
    const more = ['2002:a00:1::', '2001:0:a00:1::', 'ff02::1', '100::1', ...metadata];
    for (const address of [...closed, ...more]) {
      expect({ address, verdict: await opening(all, urlOf(address)) }).toEqual({
        address,
        verdict: expect.stringContaining('no setting opens it'),
      });
    }
    for (const address of ['10.0.0.1', '169.254.1.1', '240.0.0.1', 'fe80::1', '64:ff9b:1::1', '4000::1']) {
      expect(await opening(all, urlOf(address))).toBe(address);
    }
  });

  test('of NAT64 reach what the IPv4 address inside may reach', async () => {
    expect(await opening('64:ff9b::/96', 'http://[64:ff9b::8.8.8.8]/')).toBe('64:ff9b::808:808');
    expect(await opening('64:ff9b::/96', 'http://[64:ff9b::10.0.0.1]/')).toBe(
      'refused: 64:ff9b::a00:1 leads to 10.0.0.1, a private address (10.0.0.0/8); the setting PARLEY_WEBHOOK_NETWORKS can open it',
    );
    expect(await opening('64:ff9b::/96, 10.0.0.0/8', 'http://[64:ff9b::10.0.0.1]/')).toBe('64:ff9b::a00:1');
    expect(await opening('::/0', 'http://[64:ff9b::169.254.169.254]/')).toContain('cloud metadata');
  });

  test('are parsed from text, and invalid text is refused with an explanation', () => {
    expect(parseNetworks('')).toEqual([]);
    expect(parseNetworks('  ')).toEqual([]);
    expect(parseNetworks('0.0.0.0/0')).toEqual([{ text: '0.0.0.0/0', family: 4, first: 0n, last: 0xffff_ffffn }]);
    expect(parseNetworks('::1')).toEqual([{ text: '::1', family: 6, first: 1n, last: 1n }]);
    for (const text of [
      'private',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '10.0.0.0/08',
      '10/8',
      '10.0.0.0/8,',
      '10.0.0.0/8 192.168.0.0/16',
      'fe80::1%eth0',
      '[::1]',
      'localhost',
    ]) {
      expect(() => parseNetworks(text)).toThrow(/^networks such as 10\.0\.0\.0\/8 or addresses/);
    }
    expect(() => parseNetworks('192.168.1.5/24')).toThrow(
      'start at their first address, which 192.168.1.5/24 does not',
    );
  });
});
