import { expect } from 'bun:test';
import fc from 'fast-check';
import { type Argument, defineCommand, UsageError, type ValueOption } from '../../../cli/command.ts';
import type { CommandContext } from '../../../cli/context.ts';
import { cursor, httpUrl, list, positive, text } from '../../../cli/values.ts';
import { ApiError, TransportError } from '../../../sdk/errors.ts';
import { readBlock } from '../../../sdk/event-items.ts';
import { parseServerUrl } from '../../../sdk/request.ts';
import { readResponse } from '../../../sdk/response.ts';
import { SseParser } from '../../../sdk/sse-parser.ts';
import { freeze } from '../../../server/domain/event.ts';
import { cursorFrame, eventFrame, openingFrame } from '../../../server/live/frames.ts';
import { wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, isPlainError, outcome, outcomeOf } from './outcome.ts';

const event = fc.record({ event_id: fc.maxSafeNat(), content: fc.string({ unit: 'binary' }) });

/** The SDK reads what the server writes, in any pieces. */
const stream = fc.property(fc.array(event, { maxLength: 5 }), fc.integer({ min: 1, max: 50 }), (events, size) => {
  const logged = events.map(({ event_id, content }) => {
    const data = { message_id: 1, chat_id: 1, user_id: 1, content: content.toWellFormed() };
    const body = freeze({ event: 'new_message', data } as never, 0);
    return { event_id, data, frame: eventFrame({ event_id, chat_id: 1, event: 'new_message', body } as never) };
  });
  const bytes = Buffer.concat([openingFrame(1_000, 5), ...logged.map(({ frame }) => frame.bytes), cursorFrame(9)]);
  const decoder = new TextDecoder();
  const parser = new SseParser();
  const blocks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    parser.push(decoder.decode(bytes.subarray(i * size, (i + 1) * size), { stream: true })),
  ).flat();
  expect(blocks[0]).toMatchObject({ retry: 1_000, id: '5' });
  const told = blocks.slice(1, -1).map((block) => readBlock(block));
  expect(told.map(({ cursor, item }) => [cursor, item?.data])).toEqual(
    logged.map(({ event_id, data }) => [event_id, data]),
  );
  expect(readBlock(blocks.at(-1) ?? blocks[0] ?? never()).cursor).toBe(9);
});

const never = (): never => {
  throw new Error('the stream was empty');
};

const streamPiece = fc.oneof(
  fc.constantFrom('id', 'data', 'retry', ':', ': ', '\n', '\n\n', '\r', '\r\n', '{}', '1'),
  wildText,
);

const line = fc
  .tuple(
    fc.constantFrom('id', 'data', 'retry', 'event'),
    fc.oneof(fc.stringMatching(/^\d{1,4}$/), fc.stringMatching(/^\d{15,20}$/), fc.json(), wildText),
  )
  .map(([name, value]) => `\n${name}: ${value}\n\n`);

const anyStream = fc.property(fc.array(fc.oneof(line, streamPiece), { maxLength: 30 }), (pieces) => {
  const parser = new SseParser();
  for (const block of pieces.flatMap((piece) => parser.push(piece))) {
    const { value } = outcome(() => readBlock(block), isA(TransportError));
    if (value?.cursor !== undefined) expect(Number.isSafeInteger(value.cursor)).toBe(true);
    if (value?.item) expect(typeof value.item.event).toBe('string');
  }
});

/** Any response is a payload, or an error that shows it. */
const anyAnswer = fc.property(
  fc.oneof(
    wildText,
    fc.json(),
    fc.jsonValue().map((error) => JSON.stringify({ success: false, error })),
  ),
  fc.constantFrom(200, 201, 301, 400, 404, 429, 500, 503),
  fc.constantFrom('application/json', 'text/html', ''),
  (body, status, type) => {
    const response = new Response(body, { status, headers: { 'content-type': type } });
    const { value } = outcome(() => readResponse(response, body), isA(ApiError, TransportError));
    if (value) expect(JSON.parse(body)).toEqual({ success: true, ...value });
  },
);

const word = fc.oneof(
  fc.constantFrom('--', '-', '-h', '--help', '--json', '--json=x', '--limit', '--limit=5', '--limit=', '1', '0'),
  wildText,
);

/** For commands that do not use their process. */
const nowhere = {} as CommandContext;

const limit: ValueOption<number> = { value: 'n', summary: '', read: positive };
const chat: Argument<number> = { summary: '', read: cursor };

/** Returns a command that puts its arguments and options into a list. */
const commandInto = (given: unknown[]) =>
  defineCommand({
    arguments: { chat, words: { summary: '', read: text, rest: true } },
    options: { json: { summary: '' }, limit },
    run: async (args, options) => void given.push(args, options),
  });

/** A command line runs with its values, or is refused with a hint. */
const anyCommandLine = fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (typed) => {
  const given: unknown[] = [];
  const command = commandInto(given);
  const { value } = await outcomeOf(() => command.execute(typed, nowhere), isA(UsageError));
  if (value !== 'done') return;
  const [{ chat: read, words }, options] = given as [
    { chat: number; words: string[] },
    { json: boolean; limit?: number },
  ];
  expect(Number.isSafeInteger(read) && read >= 0).toBe(true);
  for (const one of [String(read), ...words])
    expect(typed.map((t) => t.replace(/^0+(?=\d)/, ''))).toContain(one.replace(/^0+(?=\d)/, ''));
  if (options.limit !== undefined) expect(typed.join(' ')).toContain(String(options.limit));
});

const written = fc.asyncProperty(
  fc.maxSafeNat(),
  fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }),
  fc.integer({ min: 1 }),
  async (id, words, most) => {
    const given: unknown[] = [];
    const command = commandInto(given);
    expect(await command.execute(['--limit', String(most), '--', String(id), ...words], nowhere)).toBe('done');
    expect(given).toEqual([
      { chat: id, words },
      { json: false, limit: most },
    ]);
  },
);

const webUrl = fc.webUrl({ authoritySettings: { withUserInfo: true, withPort: true }, withFragments: true });

const anyValue = fc.property(fc.oneof(wildText, webUrl, fc.stringMatching(/^[\d,a-z:/@#. -]{0,30}$/)), (typed) => {
  const number = outcome(() => cursor(typed), isPlainError).value;
  if (number !== undefined) expect(BigInt(typed)).toBe(BigInt(number));
  const { value: url } = outcome(() => httpUrl(typed), isPlainError);
  if (url) expect(url.href).toMatch(/^https?:\/\/[^@/?#]+\/[^#]*$/);
  const { value: words } = outcome(() => list(typed), isPlainError);
  if (words)
    expect(words.join(',')).toBe(
      typed
        .split(',')
        .map((one) => one.trim())
        .join(','),
    );
  const server = parseServerUrl(typed);
  if (server !== undefined) expect(parseServerUrl(`${server}/api/`)).toBe(server);
});

export const clients = [
  subject('the SDK reads what the server streams', 150, stream),
  subject('any stream is read or called damaged', 300, anyStream),
  subject('any answer is a payload or an error', 300, anyAnswer),
  subject('any command line is carried out or refused', 300, anyCommandLine),
  subject('a command line says what its writer meant', 150, written),
  subject('any word of a command line is a value or refused', 300, anyValue),
];
