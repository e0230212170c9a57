import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Block, SseParser } from '../sse-parser.ts';

const parse = (...pieces: string[]): Block[] => {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

const nothing = { id: undefined, data: undefined, retry: undefined };

describe('a stream of server-sent events', () => {
  test('is split at empty lines, whether a block has data or not', () => {
    const text =
      'retry: 1200\nid: 4\n\nid: 5\nevent: new_message\ndata: {"a":1}\n\nevent: message_read\ndata: {}\n\nid: 9\n\n';
    expect(parse(text)).toEqual([
      { ...nothing, retry: 1200, id: '4' },
      { ...nothing, id: '5', data: '{"a":1}' },
      { ...nothing, data: '{}' },
      { ...nothing, id: '9' },
    ]);
  });

  test.each([
    ['comments and fields of later versions', ': hello\nnew: field\nnofield\nid: 1\n\n', [{ ...nothing, id: '1' }]],
    ['empty lines alone', '\n\n\n: a comment\n\n', []],
    ['data of several lines', 'data: a\ndata:b\ndata\ndata:  c\n\n', [{ ...nothing, data: 'a\nb\n\n c' }]],
    ['data that is empty', 'data:\n\n', [{ ...nothing, data: '' }]],
    ['names that objects have', 'constructor: x\n__proto__: y\nid: 1\n\n', [{ ...nothing, id: '1' }]],
    ['an id with a zero byte', 'id: 1\0\ndata: x\n\n', [{ ...nothing, data: 'x' }]],
    ['a time that is none', 'retry: soon\nid: 1\n\n', [{ ...nothing, id: '1' }]],
    ['a block without its end', 'id: 1\n\nid: 2\ndata: x\n', [{ ...nothing, id: '1' }]],
    ['colons in data', 'data: {"at":"12:00"}\n\n', [{ ...nothing, data: '{"at":"12:00"}' }]],
  ] as [string, string, Block[]][])('may have %s', (_, text, blocks) => {
    expect(parse(text)).toEqual(blocks);
  });

  test('is the same however lines end and wherever it is torn', () => {
    const line = fc.constantFrom('id: 1', 'id: 22', 'data: x', 'data: yy', 'retry: 3', ': c', '', '', '');
    const end = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), end, fc.array(fc.nat(200)), (lines, end, places) => {
        const whole = parse(...lines.map((one) => `${one}\n`));
        // The next character tells a lone carriage return from half of a line break.
        const text = [...lines, ': c', ''].join(end);
        const cuts = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
        expect(parse(...cuts.slice(1).map((to, i) => text.slice(cuts[i], to)))).toEqual(whole);
      }),
    );
  });

  test('is refused where a line has no end', () => {
    const parser = new SseParser();
    const piece = 'x'.repeat(1_024 * 1_024);
    expect(() => {
      for (let i = 0; i < 20; i++) parser.push(piece);
    }).toThrow('too long');
  });
});
