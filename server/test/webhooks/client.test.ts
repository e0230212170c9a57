import { afterAll, describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { parseNetworks } from '../../domain/address.ts';
import { type ClientOptions, Deadlines, postTo } from '../../webhooks/client.ts';
import { type Outcome, readRetryAfter } from '../../webhooks/outcome.ts';
import { Guard, type Target } from '../../webhooks/ssrf/guard.ts';
import { endWithUs, temporaryFolder } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { describeUnless, requireProgram } from '../support/requirements.ts';

/** Stands still, so that no attempt is late by itself. */
const monotonic = () => 0;

const options: ClientOptions = {
  deadlines: new Deadlines(monotonic),
  now: Date.now,
  monotonic,
  timeoutMs: 15_000,
  maxRead: 65_536,
  maxKept: 4_096,
};
const headers = { 'Content-Type': 'application/json', 'X-Webhook-Id': '7', 'X-Webhook-Signature': 'sha256=abc' };
const body = '{"event":"new_message","data":{"content":"grüße 👋"}}';

interface Request {
  readonly head: string;
  readonly body: Buffer;
  /** 1 for the first connection to the server, and so on. */
  readonly connection: number;
  /** The name that the client asked for in the TLS handshake. */
  readonly name: string | false | undefined;
}

interface Endpoint {
  readonly port: number;
  readonly requests: Request[];
  readonly sockets: Socket[];
}

type Responder = (socket: Socket, request: Request) => void;

const servers: Server[] = [];
const clients = new Set<Socket>();
afterAll(() => {
  for (const socket of clients) socket.destroy();
  for (const server of servers) server.close();
});

/** A server that speaks raw bytes: it reads whole requests, and says whatever it likes. */
function talk(endpoint: Omit<Endpoint, 'port'>, respond: Responder, socket: Socket): void {
  const connection = endpoint.sockets.push(socket);
  clients.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => clients.delete(socket));
  let read = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    read = Buffer.concat([read, bytes]);
    const end = read.indexOf('\r\n\r\n');
    const head = read.toString('latin1', 0, Math.max(end, 0));
    const whole = end + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (end < 0 || read.length < whole) return;
    const name = (socket as { servername?: string | false }).servername;
    const request = { head, body: read.subarray(end + 4, whole), connection, name };
    read = read.subarray(whole);
    endpoint.requests.push(request);
    respond(socket, request);
  });
}

async function listen(server: Server, endpoint: Omit<Endpoint, 'port'>): Promise<Endpoint> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { ...endpoint, port: address.port };
}

function endpointThat(respond: Responder): Promise<Endpoint> {
  const endpoint = { requests: [], sockets: [] };
  return listen(
    createServer((socket) => talk(endpoint, respond, socket)),
    endpoint,
  );
}

/** Responders whatever comes first, which may be the start of a TLS handshake, in plain text. */
function endpointWithoutTls(): Promise<Endpoint> {
  const server = createServer((socket) => {
    clients.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  return listen(server, { requests: [], sockets: [] });
}

const saying =
  (text: string, then?: (socket: Socket) => void): Responder =>
  (socket) => {
    socket.write(text);
    then?.(socket);
  };

const ok = saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

function writeForEver(socket: Socket, bytes: Buffer): void {
  while (!socket.destroyed && socket.write(bytes)) {}
  if (!socket.destroyed) socket.once('drain', () => writeForEver(socket, bytes));
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(text)), 20);
}

const targetOf = (url: string, address = '127.0.0.1', others: string[] = []): Target => ({
  url: new URL(url),
  address,
  family: address.includes(':') ? 6 : 4,
  others,
});

const to = ({ port }: { port: number }, path = '/hook') => targetOf(`http://127.0.0.1:${port}${path}`);

const send = (target: Target, changed: Partial<ClientOptions> = {}): Promise<Outcome> =>
  postTo({ target: () => target }, { ...options, ...changed }, { url: target.url, headers, body });

/** Attempts whose time passes only when the test says so. */
class Timed {
  at = 0;
  /** How often the client has looked at the clock: when it begins, when it connects, and when the status is there. */
  #looks = 0;
  readonly options: Pick<ClientOptions, 'monotonic' | 'deadlines'> = {
    monotonic: () => {
      this.#looks++;
      return this.at;
    },
    deadlines: new Deadlines(() => this.at),
  };

  async untilStatus(): Promise<void> {
    await eventually('the client has read the status', async () => this.#looks >= 3 || undefined);
  }
}

/** An outcome without its duration, which is checked to be one. */
function timeless({ ms, ...rest }: Outcome): object {
  expect(Number.isInteger(ms) && ms >= 0).toBe(true);
  return rest;
}

const responded = (status: number, body: string, retryAfterMs?: number) => ({
  kind: 'responded',
  status,
  retryAfterMs,
  body,
});

const unreached = (failure: string, message: string) => ({ kind: 'unreached', failure, message });

describe('an attempt', () => {
  test('sends the exact bytes and headers, with the host of the URL, and returns the response', async () => {
    const endpoint = await endpointThat(ok);
    const target = targetOf(`http://hooks.example.com:${endpoint.port}/a%20b?c=d`);
    expect(timeless(await send(target))).toEqual(responded(200, 'ok'));
    const [request] = endpoint.requests;
    expect(request?.body.equals(Buffer.from(body, 'utf8'))).toBe(true);
    const lines = request?.head.split('\r\n') ?? [];
    expect(lines[0]).toBe('POST /a%20b?c=d HTTP/1.1');
    for (const [name, value] of Object.entries(headers)) expect(lines).toContain(`${name}: ${value}`);
    const only = (name: string) => lines.filter((line) => line.toLowerCase().startsWith(`${name}:`));
    expect(only('host')).toEqual([`Host: hooks.example.com:${endpoint.port}`]);
    expect(only('accept-encoding')).toEqual(['Accept-Encoding: identity']);
    expect(only('content-length')).toEqual([`Content-Length: ${Buffer.byteLength(body)}`]);
    expect(only('transfer-encoding')).toEqual([]);
  });

  test('reuses a connection after responses of every length', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
    const long = `HTTP/1.1 500 Oops\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5_000)}`;
    const responses = [
      'HTTP/1.1 204 No Content\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      chunked,
      long,
    ];
    const endpoint = await endpointThat((socket) => {
      socket.write(responses[(endpoint.requests.length - 1) % responses.length] ?? '');
    });
    for (let i = 0; i < 8; i++) await send(to(endpoint));
    expect(endpoint.requests.map((request) => request.connection)).toEqual(Array(8).fill(1));
  });

  test('shows each name its own host, though one address serves both', async () => {
    const endpoint = await endpointThat(ok);
    for (const name of ['a.example.com', 'b.example.com']) await send(targetOf(`http://${name}:${endpoint.port}/`));
    expect(endpoint.requests.map((request) => /^host: (.*)$/im.exec(request.head)?.[1])).toEqual([
      `a.example.com:${endpoint.port}`,
      `b.example.com:${endpoint.port}`,
    ]);
  });

  test('does not follow a redirect, and says where it leads', async () => {
    const elsewhere = await endpointThat(ok);
    for (const status of [301, 302, 303, 307, 308]) {
      const target = `http://127.0.0.1:${elsewhere.port}/`;
      const head = `HTTP/1.1 ${status} Moved\r\nLocation: ${target}\r\nContent-Length: 4\r\n\r\n`;
      const endpoint = await endpointThat(saying(`${head}gone`));
      expect(timeless(await send(to(endpoint)))).toEqual(responded(status, `Location: ${target}\n\ngone`));
    }
    expect(elsewhere.requests).toEqual([]);
  });

  test('dials the next address of a name where nobody is at the first', async () => {
    const endpoint = await endpointThat(ok);
    const target = targetOf(`http://hooks.example.com:${endpoint.port}/`, '127.0.0.2', ['127.0.0.3', '127.0.0.1']);
    expect(timeless(await send(target))).toEqual(responded(200, 'ok'));
    expect(endpoint.requests).toHaveLength(1);
  });

  test('is not repeated at the next address once somebody was reached', async () => {
    const endpoint = await endpointThat((socket) => socket.resetAndDestroy());
    const target = targetOf(`http://hooks.example.com:${endpoint.port}/`, '127.0.0.1', ['127.0.0.1']);
    expect(timeless(await send(target))).toEqual(unreached('reset', 'the connection broke off'));
    expect(endpoint.sockets).toHaveLength(1);
  });

  test('can be called off, before and while it waits', async () => {
    const deadlines = new Deadlines(monotonic);
    const endpoint = await endpointThat(() => deadlines.close());
    const isCalledOff = unreached('cancelled', 'the attempt was cancelled');
    expect(timeless(await send(to(endpoint), { deadlines }))).toEqual(isCalledOff);
    expect(endpoint.requests).toHaveLength(1);
    expect(timeless(await send(to(endpoint), { deadlines }))).toEqual(isCalledOff);
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('without a response, the outcome says why and does not contain the URL', () => {
  const failures: Record<string, readonly [Responder, failure: string, message: string]> = {
    'a connection that is closed at once': [(socket) => socket.end(), 'reset', 'the connection broke off'],
    'a connection that is reset at once': [(socket) => socket.resetAndDestroy(), 'reset', 'the connection broke off'],
    'half a status line': [saying('HTTP/1.1 20', (s) => s.end()), 'reset', 'the connection broke off'],
    'half a header': [saying('HTTP/1.1 200 OK\r\nX: ', (s) => s.end()), 'reset', 'the connection broke off'],
    'another protocol': [saying('220 mail ready\r\n\r\n'.repeat(100)), 'not_http', 'the response is not valid HTTP'],
    'a status of 0': [
      saying('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'),
      'not_http',
      'the response is not valid HTTP',
    ],
    'two lengths': [
      saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nokokok'),
      'not_http',
      'the response is not valid HTTP',
    ],
    'a protocol that nobody asked for': [
      saying('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      'not_http',
      'the response is not valid HTTP',
    ],
    'a header without an end': [
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        writeForEver(socket, Buffer.alloc(65_536, 'a'));
      },
      'not_http',
      'the headers of the response are too large',
    ],
  };
  for (const [name, [respond, failure, message]] of Object.entries(failures)) {
    test(name, async () => {
      const endpoint = await endpointThat(respond);
      const outcome = await send(to(endpoint, '/hooks/s3cret?token=s3cret'));
      expect(timeless(outcome)).toEqual(unreached(failure, message));
    });
  }

  test('a port where nobody listens', async () => {
    const free = await endpointThat(ok);
    await new Promise((resolve) => servers.at(-1)?.close(resolve));
    expect(timeless(await send(to(free)))).toEqual(unreached('refused', 'connection refused'));
  });

  const slow: Record<string, Responder> = {
    'an endpoint that never responds': () => {},
    'headers that drip': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      drip(socket, 'x');
    },
    'interim responses without an end': (socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
  };
  for (const [name, respond] of Object.entries(slow)) {
    test(`${name}: the time is up`, async () => {
      const endpoint = await endpointThat(respond);
      const timed = new Timed();
      const attempt = send(to(endpoint), timed.options);
      await eventually('it is asked', async () => endpoint.requests.length > 0 || undefined);
      timed.at += 15_000;
      expect(await attempt).toMatchObject({ ...unreached('timeout', 'no complete response within 15 s'), ms: 15_000 });
    });
  }
});

describe('the status decides', () => {
  const head = (status: number) => `HTTP/1.1 ${status} X\r\n`;
  const isClosed = (endpoint: Endpoint) =>
    new Promise<boolean>((resolve) => {
      const [socket] = endpoint.sockets;
      if (!socket || socket.destroyed) return resolve(true);
      socket.once('close', () => resolve(true));
    });

  for (const status of [200, 500]) {
    test(`a body that drips after a ${status} does not hold the attempt up for long`, async () => {
      const framings = [
        'Content-Length: 2000',
        'Content-Length: 100000',
        'Transfer-Encoding: chunked',
        'X: until close',
      ];
      const outcomes = await Promise.all(
        framings.map(async (framing) => {
          const endpoint = await endpointThat((socket) => {
            const chunk = framing.includes('chunked') ? '1\r\na\r\n' : 'a';
            socket.write(`${head(status)}${framing}\r\n\r\n${chunk}`);
            drip(socket, chunk);
          });
          const timed = new Timed();
          const attempt = send(to(endpoint), timed.options);
          await timed.untilStatus();
          timed.at += 1_000;
          const outcome = await attempt;
          expect(await isClosed(endpoint)).toBe(true);
          return outcome;
        }),
      );
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ kind: 'responded', status, ms: 1_000 });
        // The body of a short 2xx response is kept whole or not at all.
        if (outcome.kind === 'responded' && status === 500) expect(outcome.body).toMatch(/^a+$/);
      }
    });

    test(`a connection that breaks off after a ${status} changes nothing`, async () => {
      const bodies = ['Content-Length: 9\r\n\r\nhalf', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'];
      const ends: ((socket: Socket) => void)[] = [(socket) => socket.resetAndDestroy(), (socket) => socket.end()];
      for (const text of bodies) {
        for (const end of ends) {
          const timed = new Timed();
          const endpoint = await endpointThat(
            saying(head(status) + text, (socket) => void timed.untilStatus().then(() => end(socket))),
          );
          expect(await send(to(endpoint), timed.options)).toMatchObject({ kind: 'responded', status });
        }
      }
    });

    test(`a body without an end after a ${status} is read no further than it must be`, async () => {
      const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);
      const framings: readonly (readonly [string, Buffer])[] = [
        ['Content-Length: 100000000000', Buffer.alloc(65_536, 'a')],
        ['Transfer-Encoding: chunked', chunk],
        // The stated length is a lie that the encoding overrules.
        ['Content-Length: 2\r\nTransfer-Encoding: chunked', chunk],
      ];
      for (const [framing, bytes] of framings) {
        const endpoint = await endpointThat((socket) => {
          socket.write(`${head(status)}${framing}\r\n\r\n`);
          writeForEver(socket, bytes);
        });
        expect(timeless(await send(to(endpoint)))).toEqual(responded(status, 'a'.repeat(4_096)));
        expect(await isClosed(endpoint)).toBe(true);
        expect(endpoint.sockets[0]?.bytesWritten).toBeLessThan(64 * 1_048_576);
      }
    });
  }

  test('the rest of a truncated body is not mistaken for the next response', async () => {
    const endpoint = await endpointThat((socket, { connection }) => {
      if (connection > 1) return ok(socket, {} as Request);
      socket.write(`${head(200)}Content-Length: 200000\r\n\r\n${'a'.repeat(100_000)}`);
    });
    expect(await send(to(endpoint))).toMatchObject({ body: 'a'.repeat(4_096) });
    expect(timeless(await send(to(endpoint)))).toEqual(responded(200, 'ok'));
  });
});

describe('the start of a response is kept as text', () => {
  const bodyOf = async (bytes: Buffer | string, status = 200, extra = '') => {
    const endpoint = await endpointThat((socket) => {
      socket.write(`HTTP/1.1 ${status} X\r\n${extra}Content-Length: ${Buffer.byteLength(bytes)}\r\n\r\n`);
      socket.write(bytes);
    });
    const outcome = await send(to(endpoint));
    return outcome.kind === 'responded' ? outcome.body : outcome;
  };

  for (const status of [200, 400]) {
    test(`after a ${status}: U+0000 and what is not UTF-8 are replaced, a cut character is left out`, async () => {
      expect(await bodyOf('', status)).toBe('');
      expect(await bodyOf('grüße 👋', status)).toBe('grüße 👋');
      expect(await bodyOf('a\0b', status)).toBe('a\ufffdb');
      expect(await bodyOf(Buffer.from([0x61, 0xff, 0x62, 0xed, 0xa0, 0x80]), status)).toMatch(/^a\ufffdb\ufffd+$/);
      expect(await bodyOf('a'.repeat(4_096), status)).toBe('a'.repeat(4_096));
      expect(await bodyOf('a'.repeat(5_000), status)).toBe('a'.repeat(4_096));
      expect(await bodyOf(`${'a'.repeat(4_095)}ü…`, status)).toBe('a'.repeat(4_095));
      expect(((await bodyOf(Buffer.alloc(9_000, 0xff), status)) as string).length).toBeLessThanOrEqual(4_096);
    });
  }

  test('and nothing is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'z'));
    const small = gzipSync(Buffer.alloc(500_000, 'z'));
    for (const bytes of [bomb, small]) {
      const body = await bodyOf(bytes, 200, 'Content-Encoding: gzip\r\n');
      expect(body).toStartWith('\u001f');
      expect(body).not.toContain('zzz');
    }
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  const vectors: readonly (readonly [value: string | null, ms: number | undefined])[] = [
    ['120', 120_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 12:00:00 GMT', 0],
    ['Thu, 01 Jan 2026 11:59:59 GMT', undefined],
    [null, undefined],
    ['', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['2026-01-01T12:00:30Z', undefined],
    ['Thu, 99 Jan 2026 12:00:30 GMT', undefined],
  ];
  for (const [value, ms] of vectors) {
    test(`${JSON.stringify(value)} means ${ms === undefined ? 'nothing' : `${ms} ms`}`, () => {
      expect(readRetryAfter(value, now)).toBe(ms);
    });
  }

  test('is returned with the response, by the injected clock', async () => {
    const of = async (value: string) => {
      const head = `HTTP/1.1 503 X\r\nRetry-After: ${value}\r\nContent-Length: 0\r\n\r\n`;
      return timeless(await send(to(await endpointThat(saying(head))), { now: () => now }));
    };
    expect(await of('7')).toEqual(responded(503, '', 7_000));
    expect(await of('Thu, 01 Jan 2026 12:01:00 GMT')).toEqual(responded(503, '', 60_000));
    expect(await of('never')).toEqual(responded(503, ''));
  });
});

describe('with the guard', () => {
  const guardWith = (resolve: (name: string) => Promise<readonly string[]>, networks = '127.0.0.0/8') =>
    new Guard({
      openNetworks: parseNetworks(networks),
      loopbackAllowed: false,
      ownPort: () => 1,
      resolve,
      monotonic,
    });
  const deliver = (guard: Guard, url: string, changed: Partial<ClientOptions> = {}) =>
    postTo(guard, { ...options, ...changed }, { url: guard.readUrl(url), headers, body });

  test('the judged address is dialled, and the name is not looked up again', async () => {
    const endpoint = await endpointThat(ok);
    // No resolver but this one knows the name; and after the first time it leads to where nobody listens.
    const responses = [['127.0.0.1'], ['127.0.0.2']];
    const guard = guardWith(async () => responses.shift() ?? []);
    const url = `http://hooks.invalid:${endpoint.port}/hook`;
    expect(timeless(await deliver(guard, url))).toEqual(responded(200, 'ok'));
    expect(timeless(await deliver(guard, url))).toEqual(responded(200, 'ok'));
    expect(endpoint.requests[0]?.head).toContain(`Host: hooks.invalid:${endpoint.port}\r\n`);
  });

  test('its refusals are outcomes, and nobody is dialled', async () => {
    const endpoint = await endpointThat(ok);
    const closed = guardWith(async () => ['127.0.0.1'], '');
    for (const host of ['127.0.0.1', '2130706433', 'hooks.invalid']) {
      const outcome = await deliver(closed, `http://${host}:${endpoint.port}/`);
      expect(outcome).toMatchObject({ kind: 'unreached', failure: 'blocked_address' });
      expect(outcome).toMatchObject({ message: expect.stringContaining('a loopback address') });
    }
    expect(
      timeless(
        await deliver(
          guardWith(async () => []),
          'http://gone.invalid/',
        ),
      ),
    ).toEqual(unreached('dns', 'the name gone.invalid does not resolve'));
    expect(endpoint.sockets).toEqual([]);
  });

  test('the time to look the name up counts', async () => {
    const timed = new Timed();
    const endpoint = await endpointThat(() => {
      timed.at += 1;
    });
    const guard = guardWith(async () => {
      timed.at += 14_999;
      return ['127.0.0.1'];
    });
    const outcome = await deliver(guard, `http://slow.invalid:${endpoint.port}/`, timed.options);
    expect(outcome).toMatchObject({ ...unreached('timeout', 'no complete response within 15 s'), ms: 15_000 });
  });
});

interface Elsewhere {
  readonly url: string;
  readonly address: string;
}

/** Posts in turn from a process with another environment. */
async function sendFrom(env: Record<string, string>, posts: readonly Elsewhere[]): Promise<Outcome[]> {
  const script = `
    import { Deadlines, postTo } from ${JSON.stringify(join(import.meta.dir, '../../webhooks/client.ts'))};
    const limits = { timeoutMs: 15_000, maxRead: 65_536, maxKept: 4_096 };
    const monotonic = () => 0;
    const options = { ...limits, deadlines: new Deadlines(monotonic), now: Date.now, monotonic };
    const outcomes = [];
    for (const { url, address } of JSON.parse(process.argv.at(-1))) {
      const target = { url: new URL(url), address, family: address.includes(':') ? 6 : 4 };
      outcomes.push(await postTo({ target: () => target }, options, { url: target.url, headers: {}, body: 'hi' }));
    }
    console.log(JSON.stringify(outcomes));
    process.exit();`;
  const child = Bun.spawn([process.execPath, '-e', script, JSON.stringify(posts)], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  endWithUs(child);
  const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(errors).toBe('');
  return JSON.parse(out) as Outcome[];
}

test('a proxy in the environment is ignored', async () => {
  const proxy = await endpointThat(saying('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy'));
  const endpoint = await endpointThat(ok);
  const other = await endpointWithoutTls();
  const through = `http://127.0.0.1:${proxy.port}`;
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
  const env = Object.fromEntries(names.map((name) => [name, through]));
  const [plain, secure] = await sendFrom(env, [
    { url: `http://127.0.0.1:${endpoint.port}/`, address: '127.0.0.1' },
    { url: `https://hooks.example.com:${other.port}/`, address: '127.0.0.1' },
  ]);
  expect(plain).toMatchObject({ kind: 'responded', status: 200, body: 'ok' });
  expect(secure).toMatchObject(unreached('tls', 'the TLS handshake failed'));
  expect(proxy.sockets).toEqual([]);
});

describeUnless(requireProgram('openssl'), 'TLS', () => {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  const run = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args], { cwd: folder });
    if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const always = ['20200101000000Z', '20990101000000Z'] as const;

  function makeAuthority(): void {
    const config = `
      [ca]\ndefault_ca = own
      [own]\ndatabase = index\nnew_certs_dir = .\nrand_serial = yes\ncertificate = ca.pem\nprivate_key = ca.key
      default_md = sha256\npolicy = any\ncopy_extensions = copy\nunique_subject = no
      [any]\ncommonName = supplied`;
    Bun.spawnSync(['sh', '-c', 'cat > ca.cnf; : > index'], { cwd: folder, stdin: Buffer.from(config) });
    const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'];
    run(
      'req',
      '-x509',
      ...key,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '3650',
      '-subj',
      '/CN=ca',
      ...extensions,
    );
  }

  function issue(name: string, holder: string, [from, until]: readonly [string, string] = always): void {
    const asked = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${holder}`];
    run('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, ...asked);
    const dates = ['-startdate', from, '-enddate', until];
    run('ca', '-batch', '-notext', '-config', 'ca.cnf', '-in', `${name}.csr`, '-out', `${name}.pem`, ...dates);
  }

  function makeCertificates(): void {
    makeAuthority();
    issue('a', 'DNS:a.test');
    issue('ip', 'IP:127.0.0.1');
    issue('expired', 'DNS:a.test', ['20200101000000Z', '20200201000000Z']);
    issue('early', 'DNS:a.test', ['20980101000000Z', '20990101000000Z']);
    const self = ['-keyout', 'self.key', '-out', 'self.pem', '-days', '3650', '-subj', '/CN=a.test'];
    run('req', '-x509', ...key, ...self, '-addext', 'subjectAltName=DNS:a.test');
  }

  let made = false;
  const certificate = async (name: string) => {
    if (!made) makeCertificates();
    made = true;
    return { key: await Bun.file(file(`${name}.key`)).text(), cert: await Bun.file(file(`${name}.pem`)).text() };
  };

  /** Shows one certificate to everybody, or another to those who ask for a name. */
  async function secureEndpoint(shown: string, byName: Record<string, string> = {}): Promise<Endpoint> {
    const endpoint = { requests: [], sockets: [] };
    const own = await certificate(shown);
    const others = await Promise.all(
      Object.entries(byName).map(
        async ([name, other]) => [name, createSecureContext(await certificate(other))] as const,
      ),
    );
    const contexts = new Map(others);
    const SNICallback = (name: string, done: (error: null, context?: ReturnType<typeof createSecureContext>) => void) =>
      done(null, contexts.get(name));
    const server = createTlsServer({ ...own, ...(others.length > 0 && { SNICallback }) }, (socket) =>
      talk(endpoint, ok, socket),
    );
    server.on('tlsClientError', () => {});
    return listen(server, endpoint);
  }

  const trusting = () => ({ NODE_EXTRA_CA_CERTS: file('ca.pem') });
  const at = ({ port }: Endpoint, host: string): Elsewhere => ({
    url: `https://${host}:${port}/`,
    address: '127.0.0.1',
  });

  test('a certificate counts for the name in the URL, or for the address where there is no name', async () => {
    const named = await secureEndpoint('a');
    const addressed = await secureEndpoint('ip');
    const outcomes = await sendFrom(trusting(), [
      at(named, 'a.test'),
      at(named, 'a.test'),
      at(named, 'b.test'),
      at(named, '127.0.0.1'),
      at(addressed, '127.0.0.1'),
      at(addressed, 'a.test'),
    ]);
    const wrong = unreached('tls', 'the certificate is for another name');
    expect(outcomes.map(timeless)).toEqual([
      { kind: 'responded', status: 200, body: 'ok' },
      { kind: 'responded', status: 200, body: 'ok' },
      wrong,
      wrong,
      { kind: 'responded', status: 200, body: 'ok' },
      wrong,
    ]);
    expect(named.requests.map(({ connection, name }) => [connection, name])).toEqual([
      [1, 'a.test'],
      [1, 'a.test'],
    ]);
    expect(addressed.requests.map(({ name }) => name || undefined)).toEqual([undefined]);
  });

  test('a connection of one name is never used for another', async () => {
    const endpoint = await secureEndpoint('ip', { 'a.test': 'a', 'b.test': 'ip' });
    const order = ['a.test', 'b.test', 'a.test', '127.0.0.1', 'b.test'];
    const outcomes = await sendFrom(
      trusting(),
      order.map((host) => at(endpoint, host)),
    );
    expect(outcomes.map((outcome) => (outcome.kind === 'responded' ? outcome.status : outcome.failure))).toEqual([
      200,
      'tls',
      200,
      200,
      'tls',
    ]);
    expect(endpoint.requests.map(({ head }) => /^host: (.*):/im.exec(head)?.[1])).toEqual([
      'a.test',
      'a.test',
      '127.0.0.1',
    ]);
  });

  test('a certificate that is not good is named as what it is', async () => {
    const shown = await Promise.all(['expired', 'early', 'self', 'a'].map((name) => secureEndpoint(name)));
    const all = shown.map((endpoint) => at(endpoint, 'a.test'));
    const trusted = await sendFrom(trusting(), all.slice(0, 3));
    expect(trusted.map(timeless)).toEqual([
      unreached('tls', 'the certificate has expired'),
      unreached('tls', 'the certificate is not valid yet'),
      unreached('tls', 'the certificate is self-signed'),
    ]);
    const unknown = unreached('tls', 'the certificate does not come from a known authority');
    expect((await sendFrom({}, all.slice(3))).map(timeless)).toEqual([unknown]);
    for (const endpoint of shown) expect(endpoint.requests).toEqual([]);
  });

  test('the environment cannot switch the verification off', async () => {
    const endpoint = await secureEndpoint('self');
    const outcomes = await sendFrom({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [
      at(endpoint, 'a.test'),
      at(endpoint, '127.0.0.1'),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'unreached', failure: 'tls' });
    expect(endpoint.requests).toEqual([]);
  });

  test('an endpoint without TLS, or one that is silent, is an outcome too', async () => {
    const plain = await endpointThat(ok);
    const speaking = await endpointWithoutTls();
    expect(timeless(await send(targetOf(`https://127.0.0.1:${speaking.port}/`)))).toEqual(
      unreached('tls', 'the TLS handshake failed'),
    );
    const timed = new Timed();
    const attempt = send(targetOf(`https://127.0.0.1:${plain.port}/`), timed.options);
    await eventually('it is dialled', async () => plain.sockets.length > 0 || undefined);
    timed.at += 15_000;
    expect(timeless(await attempt)).toEqual(unreached('timeout', 'no complete response within 15 s'));
  });
});
