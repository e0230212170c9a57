import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fingerprint } from '../../domain/idempotency.ts';
import { isoTime } from '../../domain/time.ts';
import { fold, words } from '../../domain/words.ts';
import { parseFields } from '../../http/form.ts';

describe('times', () => {
  test('equal those of the runtime', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1e12, max: 253_402_300_799_999 }), { minLength: 1 }), (times) => {
        for (const at of times.flatMap((t) => [t, t + 1, t + 59_999])) {
          expect(isoTime(at)).toBe(new Date(at).toISOString());
        }
      }),
    );
  });
});

describe('words', () => {
  const vectors: readonly [text: string, words: string[]][] = [
    ['Ärger im CAFÉ', ['arger', 'im', 'cafe']],
    ['snake_case e-mail a.b@c.de', ['snake', 'case', 'e', 'mail', 'a', 'b', 'c', 'de']],
    ['ﬁne Ｆｕｌｌ', ['fine', 'full']],
    ['中文字', ['中', '文', '字']],
    ['がか', ['が', 'か']],
    ['مَرْحَبًا بالعالم', ['مرحبا', 'بالعالم']],
    ['שָׁלוֹם', ['שלום']],
    ['नमस्ते', ['नमस्ते']],
    ['👍🏽 ❤️ 🇩🇪', ['👍', '❤', '🇩🇪']],
    ['co\u00adoperate', ['cooperate']],
    ['"\'&|!:*()<->', []],
  ];
  for (const [text, expected] of vectors) {
    test(`of ${JSON.stringify(text)}`, () => expect(words(text)).toEqual(expected));
  }

  test('do not change if the text was folded before, and contain no syntax of an index', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
        expect(words(fold(text))).toEqual(words(text));
        for (const word of words(text)) expect(word).not.toMatch(/[\s"'\\:&|!*()<>#]/u);
      }),
    );
  });
});

test('the words of ASCII text are the same beside a character that is not ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 200 }), (text) => {
      expect(words(text)).toEqual(words(`${text} —`));
    }),
    { numRuns: 2_000 },
  );
  for (const text of ['', 'A'.repeat(200), '#1 * 2_3', 'a\0b\x7fc']) expect(words(text)).toEqual(words(`${text} —`));
});

describe('the fingerprint of an input', () => {
  test('does not depend on the order of fields', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
        const reversed = Object.fromEntries(Object.entries(input).reverse());
        expect(fingerprint(reversed)).toBe(fingerprint(input));
      }),
    );
  });

  test('tells different inputs apart', () => {
    expect(fingerprint({ a: [1, 2] })).not.toBe(fingerprint({ a: [2, 1] }));
    expect(fingerprint({ a: '1' })).not.toBe(fingerprint({ a: 1 }));
  });
});

describe('fields of a query', () => {
  test('are parsed as the platform does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))), (pairs) => {
        const text = new URLSearchParams(pairs).toString();
        expect(parseFields(text)).toEqual([...new URLSearchParams(text)]);
      }),
    );
  });
});
