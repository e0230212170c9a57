import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { columns, jsonLine, lines, oneLine } from '../output.ts';

const obeyed = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;
const anyText = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\x1b', '\n', '\r\n', '\u009b')),
});

describe('foreign text', () => {
  test('never reaches the terminal as a control character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect([oneLine(text), ...lines(text), jsonLine({ text })].filter((line) => obeyed.test(line))).toEqual([]);
      }),
    );
  });

  test('is the same in JSON', () => {
    fc.assert(fc.property(anyText, (text) => expect(JSON.parse(jsonLine({ text }))).toEqual({ text })));
  });

  test.each(['שלום עולם', 'مرحبا بالعالم', '👨‍👩‍👧', '👋🏽', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', 'नमस्ते', '你好', 'é'])(
    'stays as it is: %s',
    (text) => {
      expect(oneLine(text)).toBe(text);
    },
  );

  test('escapes hidden characters', () => {
    expect(oneLine('\x1b]0;title\x07 \u009b31m \u202eevil\r')).toBe(
      String.raw`\u{1b}]0;title\u{7} \u{9b}31m \u{202e}evil\u{d}`,
    );
    expect(lines('one\r\n\ttwo\n')).toEqual(['one', '    two', '']);
  });
});

test('columns line up where characters are wide', () => {
  expect(
    columns([
      ['你好', 'a'],
      ['👋🏽', 'b'],
      ['abcde', 'c'],
    ]),
  ).toEqual(['你好   a', '👋🏽     b', 'abcde  c']);
});
