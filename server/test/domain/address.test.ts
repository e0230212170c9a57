import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { clientIp, limitKey, networksOf, parseTrustedProxies } from '../../http/client-ip.ts';
import type { Db } from '../../store/engine/engine.ts';
import { onAnyEngine, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { lockWaits } from '../support/lock-waits.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, overSocket, postHead, request } from '../support/wire.ts';

const proxy = '10.0.0.1';

/** TRUST_PROXY, the address of the connection, X-Forwarded-For, and the resulting client IP. */
type Vector = readonly [why: string, trusted: string, connection: string, forwardedFor: string | null, address: string];

const vectors: readonly Vector[] = [
  ['nobody is trusted', 'off', proxy, '203.0.113.9', proxy],
  ['nobody is trusted, in other words', '0', proxy, '203.0.113.9', proxy],
  ['nothing was forwarded', '1', proxy, null, proxy],
  ['an empty header', '1', proxy, '', proxy],
  ['one proxy', '1', proxy, '203.0.113.9', '203.0.113.9'],
  ['one proxy that adds to what the client made up', '1', proxy, '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['two proxies', '2', proxy, '203.0.113.9, 192.0.2.1', '203.0.113.9'],
  ['two proxies and a client that makes things up', '2', proxy, '6.6.6.6, 203.0.113.9, 192.0.2.1', '203.0.113.9'],
  ['fewer entries than proxies', '3', proxy, '203.0.113.9', '203.0.113.9'],

  ['a proxy of a trusted network', '10.0.0.0/8', proxy, '203.0.113.9', '203.0.113.9'],
  ['a caller of no trusted network', '10.0.0.0/8', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  ['only as far back as the proxies are trusted', '10.0.0.0/8', proxy, '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['what pretends to be of the network', '10.0.0.0/8', proxy, '6.6.6.6, 10.9.9.9, 203.0.113.9', '203.0.113.9'],
  ['a chain of proxies', '10.0.0.0/8, 192.0.2.1', proxy, '203.0.113.9, 192.0.2.1, 10.0.0.2', '203.0.113.9'],
  ['a client within the network', '10.0.0.0/8', proxy, '10.1.2.3', '10.1.2.3'],
  ['networks of IPv6', 'fd00::/8', 'fd00::1', '2001:db8::7', '2001:db8::7'],
  ['a network of the other family', 'fd00::/8', proxy, '203.0.113.9', proxy],

  ['with a port', '1', proxy, '203.0.113.9:5678', '203.0.113.9'],
  ['in brackets', '1', proxy, '[2001:db8::7]', '2001:db8::7'],
  ['in brackets with a port', '1', proxy, '[::1]:443', '::1'],
  ['blanks around', '1', proxy, ' \t203.0.113.9 ', '203.0.113.9'],
  ['several spellings of IPv6', '1', proxy, '2001:0DB8:0:0::7', '2001:db8::7'],
  ['IPv4 as IPv6', '1', proxy, '::ffff:203.0.113.9', '203.0.113.9'],
  ['IPv4 as IPv6 in hex, in brackets', '1', proxy, '[::FFFF:cb00:7109]:1', '203.0.113.9'],
  ['a connection that is IPv4 as IPv6', 'off', '::ffff:10.0.0.1', null, proxy],
  ['a proxy that is IPv4 as IPv6', '10.0.0.0/8', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['empty entries', '1', proxy, '6.6.6.6,, 203.0.113.9, ,', '203.0.113.9'],
  ['nothing but empty entries', '1', proxy, ' , ,', proxy],

  ['a word', '1', proxy, 'unknown', proxy],
  ['a name', '1', proxy, 'client.example', proxy],
  ['a word behind what was made up', '1', proxy, '6.6.6.6, unknown', proxy],
  ['a word before the last', '2', proxy, 'unknown, 203.0.113.9', '203.0.113.9'],
  ['too many numbers', '1', proxy, '1.2.3.4.5', proxy],
  ['octal numbers', '1', proxy, '010.0.0.1', proxy],
  ['a number', '1', proxy, '2130706433', proxy],
  ['a zone', '1', proxy, 'fe80::1%eth0', proxy],
  ['an open bracket', '1', proxy, '[2001:db8::7', proxy],
  ['a port without an address', '1', proxy, ':443', proxy],
  ['a port that is none', '1', proxy, '203.0.113.9:https', proxy],
  ['quotes', '1', proxy, '"203.0.113.9"', proxy],
  ['a key of the limits', '1', proxy, 'token 1', proxy],
  ['a very long line', '1', proxy, `${'6.6.6.6, '.repeat(2_000)}203.0.113.9`, '203.0.113.9'],
  ['a connection from nowhere', '1', 'unknown', '203.0.113.9', 'unknown'],
];

describe('the client IP', () => {
  test.each(vectors)('%s (TRUST_PROXY=%s)', (_, trusted, connection, forwardedFor, address) => {
    expect(clientIp(parseTrustedProxies(trusted), connection, forwardedFor)).toBe(address);
  });

  const wrong = ['true', 'on', '10', '-1', '1.5', 'proxy.example', '10.0.0.1/8', '10.0.0.0/33', '10.0.0.0/8,'];
  test.each(wrong)('an invalid setting is refused: %s', (text) => {
    expect(() => parseTrustedProxies(text)).toThrow('off, a number of proxies from 1 to 9, or their networks');
  });

  const sharing: [string, string, boolean][] = [
    ['2001:db8::1', '2001:db8:0:0:ffff:ffff:ffff:ffff', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['2001:db8:0:1::', '2001:db8:1::', false],
    ['203.0.113.9', '203.0.113.10', false],
    ['::1', '::2', true],
    ['::ffff:203.0.113.9', '203.0.113.9', true],
    ['::ffff:203.0.113.9', '::ffff:203.0.113.10', false],
    ['unknown', 'unknown', true],
    ['unknown', '::1', false],
  ];
  test.each(sharing)('%s and %s share a limit: %p', (one, other, isShared) => {
    expect(limitKey(one) === limitKey(other)).toBe(isShared);
  });

  const networks: [string, readonly string[]][] = [
    ['2001:db8:1:abcd::5', ['2001:db8:1:abcd::/64', '2001:db8:1:ab00::/56', '2001:db8:1:0::/48']],
    ['203.0.113.9', ['203.0.113.9']],
    ['::ffff:203.0.113.9', ['203.0.113.9']],
    ['unknown', ['unknown']],
  ];
  test.each(networks)('%s is in the networks %p', (ip, expected) => {
    expect(networksOf(ip)).toEqual(expected);
  });
});

/** Calls with an unknown token until the rate limit refuses it. */
const path = '/api/users.php?action=me';
const badToken = (url: string, forwardedFor: string) =>
  request(`${url}${path}`, { headers: { authorization: 'Bearer x', 'x-forwarded-for': forwardedFor } });

onAnyEngine('the rate limit of a client IP behind a proxy', (engine) => {
  const server = serverFor(engine, { TRUST_PROXY: '1', PARLEY_RATE_LIMIT: '1/3' }, { now: () => 0 });

  test('counts the address that the proxy reports', async () => {
    for (let i = 0; i < 3; i++) expectRefusal(await badToken(server().url, '203.0.113.1'), 'unauthorized');
    expectRefusal(await badToken(server().url, '203.0.113.1'), 'rate_limited');
    expectRefusal(await badToken(server().url, '203.0.113.2'), 'unauthorized');
  });

  test('is not escaped with made-up headers', async () => {
    const madeUp = ['6.6.6.1, 203.0.113.3', 'nonsense,,203.0.113.3:1', '6.6.6.2,6.6.6.3,::ffff:203.0.113.3'];
    for (const forwarded of madeUp) expectRefusal(await badToken(server().url, forwarded), 'unauthorized');
    expectRefusal(await badToken(server().url, '6.6.6.4, 203.0.113.3'), 'rate_limited');
  });

  test('is not escaped with separate header lines before that of the proxy', async () => {
    const { host } = new URL(server().url);
    const call = (madeUp: string) =>
      overSocket(server().url, [
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer x\r\n`,
        `X-Forwarded-For: ${madeUp}\r\nX-FORWARDED-FOR: ${madeUp}\r\nX-Forwarded-For: 203.0.113.4\r\n\r\n`,
      ]);
    for (let i = 0; i < 3; i++) expect(await call(`6.6.6.${i}`)).toStartWith('HTTP/1.1 401');
    expect(await call('6.6.6.9')).toStartWith('HTTP/1.1 429');
  });

  test('is one for all addresses of an IPv6 network of 64 bits', async () => {
    for (let i = 0; i < 3; i++) expectRefusal(await badToken(server().url, `2001:db8:5::${i}`), 'unauthorized');
    expectRefusal(await badToken(server().url, '[2001:db8:5:0:ffff::]:443'), 'rate_limited');
    expectRefusal(await badToken(server().url, '2001:db8:5:1::'), 'unauthorized');
  });
});

onAnyEngine('the rate limit of a client IP without a trusted proxy', (engine) => {
  for (const trusted of ['off', '198.51.100.0/24']) {
    describe(`TRUST_PROXY=${trusted}`, () => {
      const server = serverFor(engine, { TRUST_PROXY: trusted, PARLEY_RATE_LIMIT: '1/3' }, { now: () => 0 });

      test('counts the address of the connection, whatever the header says', async () => {
        for (let i = 0; i < 3; i++) expectRefusal(await badToken(server().url, `203.0.113.${i}`), 'unauthorized');
        expectRefusal(await badToken(server().url, '203.0.113.9'), 'rate_limited');
      });
    });
  }
});

/** Sends a call, and disconnects once `until` resolves. */
async function hangUp(url: string, text: string, until: () => Promise<unknown>): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(text);
  await until();
  const closed = new Promise((done) => socket.once('close', done));
  socket.destroy();
  await closed;
}

onPostgres('a client that disconnects before the response', () => {
  const server = serverFor('postgres', { PARLEY_RATE_LIMIT: '1/10' }, { now: () => 0 });
  /** The server handles events in order: it has noticed the disconnect when it responds to a later request. */
  const noticed = () => fetch(`${server().url}/metrics`).then((response) => response.text());
  const waiting = (db: Db, count: number) =>
    eventually('the server waits', async () => (await lockWaits(db)) >= count || undefined);

  test('has its client IP in the audit log', async () => {
    const { ada } = await users(server(), 'ada');
    const body = JSON.stringify({ name: 'made in passing', scopes: ['chats:read'] });
    const call = postHead(server().url, 'tokens.php?action=create', ada.token, body.length) + body;
    await server().engine.write(async (tx) => {
      await tx.lockKeys([`tokens of ${ada.userId}`]);
      await hangUp(server().url, call, () => waiting(tx, 1));
      await noticed();
    });
    const entry = await eventually('the act is recorded', () =>
      server().engine.get<{ address: string }>(
        `SELECT address FROM audit WHERE act = 'token_created' AND user_id = $1`,
        [ada.userId],
      ),
    );
    expect(entry.address).toBe('127.0.0.1');
  });

  test('still counts against its client IP', async () => {
    const { host } = new URL(server().url);
    const bad = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer nobody\r\n\r\n`;
    const left = async () => Number((await badToken(server().url, '')).headers.get('ratelimit-remaining'));
    const answered = async () => {
      const metrics = await (await fetch(`${server().url}/metrics`)).text();
      return Number(/duration_seconds_count\{operation="users.me",status="401"\} (\d+)/.exec(metrics)?.[1] ?? 0);
    };
    const before = await left();
    const soFar = await answered();
    await server().engine.write(async (tx) => {
      await tx.run('LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE');
      await Promise.all(Array.from({ length: 4 }, () => hangUp(server().url, bad, () => waiting(tx, 4))));
      await noticed();
    });
    await eventually('all have responses', async () => ((await answered()) >= soFar + 4 ? true : undefined));
    // One more for this request itself.
    expect(await left()).toBe(before - 5);
  });
});
