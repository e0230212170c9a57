import { describe, expect, test } from 'bun:test';
import { offerEmoji, offerPeople, queryAt } from '../ui/completions.ts';
import { emojis } from '../ui/emoji-names.ts';

describe('completions', () => {
  test.each([
    ['@', { kind: 'mention', word: '', from: 0 }],
    ['hi @Ad', { kind: 'mention', word: 'ad', from: 3 }],
    ['(@ada.sm', { kind: 'mention', word: 'ada.sm', from: 1 }],
    ['so :smi', { kind: 'emoji', word: 'smi', from: 3 }],
    [':+1', { kind: 'emoji', word: '+1', from: 0 }],
    ['ada@ex', undefined],
    ['at 10:30', undefined],
    ['a:', undefined],
    [': s', undefined],
    ['@ada ', undefined],
    ['https://x', undefined],
  ] as const)('of %p', (text, query) => expect(queryAt(text, text.length)).toEqual(query));

  const people = [
    { user_id: 1, name: 'ada', display_name: 'Ada Lovelace' },
    { user_id: 2, name: 'bob', display_name: 'Al Bobson' },
    { user_id: 3, name: 'alan', display_name: 'Alan' },
  ];

  test('offer people by both names, and everyone last', () => {
    const keys = (word: string) => offerPeople(people, word, { withAll: true }).map(({ key }) => key);
    expect(keys('')).toEqual(['1', '2', '3', 'all']);
    expect(keys('al')).toEqual(['3', '2', 'all']);
    expect(keys('love')).toEqual(['1']);
    expect(offerPeople(people, 'al', { withAll: false }).map(({ insert }) => insert)).toEqual(['@alan ', '@bob ']);
  });

  test('offer each emoji once, those that begin with the word first', () => {
    expect(offerEmoji(emojis, 'thumbsu').map(({ insert }) => insert)).toEqual(['👍 ']);
    expect(offerEmoji(emojis, 'heart')[0]?.insert).toBe('❤️ ');
    expect(offerEmoji(emojis, 'e').length).toBe(8);
  });

  test('know each name once', () => {
    const names = emojis.map(({ name }) => name);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(emojis.every(({ emoji, name }) => /\p{Emoji}/u.test(emoji) && /^[a-z\d_+-]+$/.test(name))).toBe(true);
  });
});
