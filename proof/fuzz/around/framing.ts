import { connect } from 'node:net';
import fc from 'fast-check';
import type { Client } from '../../../server/test/support/client.ts';
import { type Drawn, type Subject, subject } from '../subject.ts';
import type { Target } from '../target.ts';

/** Mostly correct: a completely wrong request is refused at its first byte. */
const mostly = <T>(usual: readonly T[], odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...usual) }, odd);

const rubbish = fc.string({ unit: 'binary-ascii', maxLength: 30 });

const usualLines = [
  ...['GET /healthz HTTP/1.1', 'POST /api/messages.php?action=send_message HTTP/1.1', 'POST /oauth/token HTTP/1.1'],
  ...['POST /api/uploads HTTP/1.1', 'POST /sign-in HTTP/1.1', 'POST /api/files.php?action=upload&name=a HTTP/1.1'],
  ...['GET /api/events.php?action=stream HTTP/1.1', 'HEAD / HTTP/1.1', 'GET /api/users.php?action=me HTTP/1.0'],
];
const oddLines = [
  ...['GET  /healthz  HTTP/1.1', 'GET /healthz', 'GET /healthz HTTP/2.0', 'GET /healthz HTTP/9', 'get / HTTP/1.1'],
  ...['BREW /healthz HTTP/1.1', 'GET healthz HTTP/1.1', 'GET * HTTP/1.1', 'OPTIONS * HTTP/1.1', 'TRACE / HTTP/1.1'],
  ...['GET http://elsewhere.example/ HTTP/1.1', 'GET //// HTTP/1.1', 'CONNECT a:1 HTTP/1.1', 'GET /%zz?%zz HTTP/1.1'],
  ...['GET /a\\..\\b HTTP/1.1', 'GET /?#? HTTP/1.1', 'GET http:///x HTTP/1.1', 'POST /api/ HTTP/1.1'],
  ...['PRI * HTTP/2.0\r\n\r\nSM', '\x16\x03\x01\x00\xff', '', ' ', '\0', `GET /${'x'.repeat(20_000)} HTTP/1.1`],
];

const usualHeaders = [
  ...['Host: a', 'Connection: close', 'Connection: keep-alive', 'Content-Type: application/json', 'Accept: text/html'],
  ...['Content-Type: application/x-www-form-urlencoded', 'Content-Type: multipart/form-data; boundary=b'],
  ...['Content-Length: 5', 'Content-Length: 0', 'Content-Length: 70000', 'Transfer-Encoding: chunked'],
  ...['Authorization: Bearer TOKEN', 'Sec-Fetch-Site: same-origin', 'Expect: 100-continue', 'Tus-Resumable: 1.0.0'],
];
const oddHeaders = [
  ...['Host: b', 'Host:', 'Host: a b', 'Host: \xff', 'Host: [', 'Host: a:99999', 'Host: user@a', 'Host: a/b?c#d'],
  ...['Content-Length: -1', 'Content-Length: 99999999999999999999', 'Content-Length: 0x5', 'Content-Length: 5, 5'],
  ...['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: chunked, chunked'],
  ...['Upgrade: websocket', 'Upgrade: h2c', 'Authorization: Bearer', 'Cookie: =;=;=', 'X-Forwarded-For: \xff,,'],
  ...['no colon', ': no name', ' folded', 'A : b', 'A\0: b', 'A: b\0c', 'A: b\rc', `A: ${'x'.repeat(20_000)}`],
  ...['\x01: x', 'Range: bytes=0-', `X: ${'\xfe'.repeat(100)}`],
];

const usualBodies = [
  ...['', '{}{}{', '5\r\nabcde\r\n0\r\n\r\n', '--b\r\n', 'x'.repeat(70_000)],
  ...['GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
];
const oddBodies = [
  ...['ffffffffffffffff\r\n', '-1\r\nx', '5;ext=1\r\nabcde\r\n', '0\r\nA: b\r\n\r\n', 'zz\r\n', '5\nabcde\n0\n\n'],
  ...['\r\n\r\n', '\0'.repeat(100), '5\r\nabc'],
];

/** One request, with some odd parts. */
const message = fc
  .record({
    line: mostly(usualLines, fc.oneof(fc.constantFrom(...oddLines), rubbish)),
    host: mostly([['Host: a']], fc.constant<string[]>([])),
    headers: fc.array(mostly(usualHeaders, fc.oneof(fc.constantFrom(...oddHeaders), rubbish)), { maxLength: 4 }),
    end: mostly(['\r\n'], fc.constantFrom('\n', '\r')),
    isWhole: mostly([true], fc.constant(false)),
    body: mostly(usualBodies, fc.oneof(fc.constantFrom(...oddBodies), rubbish)),
  })
  .map((m) => [m.line, ...m.host, ...m.headers].join(m.end) + (m.isWhole ? m.end + m.end + m.body : ''));

/** Pipelined requests, sent in pieces, and how the client closes the connection. */
const connection = fc.record({
  sent: fc.array(message, { minLength: 1, maxLength: 3 }).map((all) => all.join('')),
  pieces: fc.integer({ min: 1, max: 4 }),
  leaves: fc.constantFrom('politely', 'rudely'),
});

type Connection = Drawn<typeof connection>;

/** Most of these get no response. It is waited for during so many other requests. */
const rounds = 3;

async function whileOthersAreAnswered(target: Target, answered: Promise<void>): Promise<void> {
  let isAnswered = false;
  void answered.then(() => {
    isAnswered = true;
  });
  for (let round = 0; round < rounds && !isAnswered; round++) await (await target.send('/healthz', {})).text();
}

async function talk(target: Target, { token }: Client, { sent, pieces, leaves }: Connection): Promise<string> {
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  const answered = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  socket.on('data', (part) => {
    received += part.toString('latin1');
    answered.resolve();
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      answered.resolve();
      closed.resolve();
    });
  const bytes = Buffer.from(sent.replaceAll('TOKEN', token), 'latin1');
  const size = Math.ceil(bytes.length / pieces) || 1;
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await Bun.sleep(0);
  }
  await whileOthersAreAnswered(target, answered.promise);
  if (leaves === 'politely') socket.end();
  else socket.resetAndDestroy();
  await whileOthersAreAnswered(target, closed.promise);
  socket.destroy();
  return received;
}

/** The response must be HTTP, and no fault of the server. */
function judge(received: string): void {
  if (received === '') return;
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(received)?.[1];
  if (status === undefined) throw new Error(`no HTTP came back: ${JSON.stringify(received.slice(0, 200))}`);
  if (/^HTTP\/1\.[01] 500 /m.test(received)) throw new Error(`a fault came back: ${received.slice(0, 500)}`);
}

export function framingSubjects(target: () => Target): readonly Subject[] {
  const property = fc.asyncProperty(fc.array(connection, { minLength: 1, maxLength: 8 }), async (connections) => {
    const { owner } = await target().people();
    const received = await Promise.all(connections.map((one) => talk(target(), owner, one)));
    for (const text of received) judge(text);
    await target().check();
  });
  return [subject('bytes that are hardly HTTP', 60, property)];
}
