import { describe, expect, test } from 'bun:test';
import type { ChatId, EventId } from '@parley/contract';
import fc from 'fast-check';
import { fingerprint } from '../../domain/idempotency.ts';
import { isoTime } from '../../domain/time.ts';
import { fold, words } from '../../domain/words.ts';
import { parseFields } from '../../http/form.ts';
import { NewestPages } from '../../operations/newest-pages.ts';
import { PreparedJson } from '../../operations/prepared-json.ts';

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

describe('newest pages', () => {
  const chat = (id: number) => id as ChatId;
  const event = (id: number) => id as EventId;
  const page = (text: string) => new PreparedJson<'messages.get_messages'>(text);

  test('are cached by chat and limit, with their newest event', () => {
    const pages = new NewestPages();
    const kept = page('page');
    pages.put(chat(1), 50, event(7), kept);
    expect(pages.get(chat(1), 50)).toEqual({ version: event(7), answer: kept });
    expect(pages.get(chat(1), 20)).toBeUndefined();
    expect(pages.get(chat(2), 50)).toBeUndefined();
    const newer = page('newer');
    pages.put(chat(1), 50, event(8), newer);
    expect(pages.get(chat(1), 50)).toEqual({ version: event(8), answer: newer });
  });

  test('are not cached for a chat without events', () => {
    const pages = new NewestPages();
    pages.put(chat(1), 50, null, page('page'));
    expect(pages.get(chat(1), 50)).toBeUndefined();
  });

  test('are evicted in the order of their last use', () => {
    const pages = new NewestPages();
    const large = page('x'.repeat(3_000_000));
    pages.put(chat(1), 50, event(1), large);
    pages.put(chat(2), 50, event(1), large);
    pages.get(chat(1), 50);
    pages.put(chat(3), 50, event(1), large);
    expect([1, 2, 3].map((id) => pages.get(chat(id), 50) !== undefined)).toEqual([true, false, true]);
  });
});
