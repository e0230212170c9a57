import { gzipSync } from 'node:zlib';
import { between, pick, type Random } from '../../harness/random.ts';

/** The chat that junk is sent to, and the token that it is sent with. */
export interface Target {
  readonly token: string;
  readonly chatId: number;
}

/** Bytes to send over a connection, in pieces. */
export type Junk = Iterable<string | Uint8Array>;

const mebi = 2 ** 20;

const path = '/api/messages.php?action=send_message';

/** Returns the head of a send with further headers. */
const head = ({ token }: Target, ...headers: string[]) =>
  `${[`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`, ...headers].join('\r\n')}\r\n\r\n`;

const json = 'Content-Type: application/json';

/** Returns a send with a well-framed body of any content. */
const posted = (target: Target, body: string | Uint8Array, ...headers: string[]): Junk => [
  head(target, json, `Content-Length: ${Buffer.byteLength(body)}`, ...headers),
  body,
];

const some = (random: Random, min: number, max: number) => between(random, [min, max]);

const bytes = (random: Random, count: number) => Uint8Array.from({ length: count }, () => Math.floor(256 * random()));

/** Compressed once and twice, and a thousand times larger when decompressed. */
const bomb = gzipSync(Buffer.alloc(64 * mebi, ' '));
const bombs = [bomb, gzipSync(bomb)] as const;

function* repeated(piece: string | Uint8Array, times: number): Junk {
  for (let i = 0; i < times; i++) yield piece;
}

const part = '--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n';

const block = 'x'.repeat(mebi / 4);

/** Generators of junk, by kind. */
export const junk: Readonly<Record<string, (target: Target, random: Random) => Junk>> = {
  'a huge header': (target, random) => [head(target, `X-Huge: ${'h'.repeat(some(random, 20_000, 2 * mebi))}`)],
  'many headers': (target, random) => [
    head(target, ...Array.from({ length: some(random, 200, 20_000) }, (_, i) => `X-${i}: ${i}`)),
  ],
  'a huge URL': (_, random) => [`GET /${'a'.repeat(some(random, 10_000, mebi))} HTTP/1.1\r\nHost: x\r\n\r\n`],
  'a huge body': function* (target, random) {
    const blocks = some(random, 5, 40);
    yield head(target, json, `Content-Length: ${blocks * block.length}`);
    yield* repeated(block, blocks);
  },
  'a huge body in chunks': function* (target, random) {
    yield head(target, json, 'Transfer-Encoding: chunked');
    yield* repeated(`${block.length.toString(16)}\r\n${block}\r\n`, some(random, 5, 40));
    yield '0\r\n\r\n';
  },
  'bad chunks': (target, random) => [
    head(target, json, 'Transfer-Encoding: chunked'),
    pick(random, ['ZZ\r\n{}\r\n', '-5\r\nhello\r\n', 'ffffffffffffffff\r\n{}', '5\r\nhel', '2\r\n{}XX0\r\n\r\n']),
  ],
  garbage: (_, random) => [bytes(random, some(random, 1, 20_000))],
  'garbage after a good request': (_, random) => [
    'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    bytes(random, some(random, 1, 5_000)),
  ],
  'many requests at once': (target, random) => repeated(head(target, 'Content-Length: 0'), some(random, 50, 500)),
  'deep JSON': (target, random) => {
    const depth = some(random, 1_000, 500_000);
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"a":', '}'],
    ]);
    const inner = `${open.repeat(depth)}1${random() < 0.5 ? close.repeat(depth) : ''}`;
    return posted(target, `{"chat_id":${inner}`.slice(0, 1_000_000) + (random() < 0.5 ? '}' : ''));
  },
  'huge numbers': (target, random) => {
    const number = pick(random, ['1e999', '-1e999', '9'.repeat(some(random, 20, 100_000)), '0.1e-400', '1e15', '-0']);
    return posted(target, `{"chat_id":${number},"content":"a number","reply_to":${number}}`);
  },
  'a bomb that unpacks': (target, random) =>
    posted(target, pick(random, bombs), `Content-Encoding: ${pick(random, ['gzip', 'gzip, gzip', 'br', 'x'])}`),
  'a length that is wrong': (target, random) => [
    head(
      target,
      json,
      ...pick(random, [
        ['Content-Length: 5000'],
        ['Content-Length: -1'],
        ['Content-Length: 1e3'],
        ['Content-Length: 2', 'Content-Length: 40'],
        ['Content-Length: 4', 'Transfer-Encoding: chunked'],
        ['Content-Length: 99999999999999999999'],
      ]),
    ),
    `{"chat_id":${target.chatId}}`,
  ],
  'a broken form': (target, random) => {
    const body = pick(random, ['--b\r\n'.repeat(10_000), `${part}no end`, `--b--\r\n${part}`, part.repeat(5_000)]);
    return [head(target, 'Content-Type: multipart/form-data; boundary=b', `Content-Length: ${body.length}`), body];
  },
  'a form of many fields': (target, random) => {
    const body = Array.from({ length: some(random, 1_000, 50_000) }, (_, i) => `f${i}=${i}`).join('&');
    return [head(target, 'Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`), body];
  },
  'text that is none': (target, random) =>
    posted(
      target,
      pick(random, [
        Buffer.concat([Buffer.from(`{"chat_id":${target.chatId},"content":"`), bytes(random, 500), Buffer.from('"}')]),
        Buffer.from(`{"chat_id":${target.chatId},"content":"\\ud800\\u0000"}`),
        Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
      ]),
    ),
  'another protocol': (_, random) => [
    pick(random, [
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
      'GET / HTTP/0.9\r\n\r\n',
      'SSH-2.0-OpenSSH_9.0\r\n',
      'FOO BAR BAZ\r\n\r\n',
      'GET http://elsewhere.example/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n',
    ]),
  ],
};
