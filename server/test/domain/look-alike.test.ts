import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { skeleton, skeletons } from '../../domain/look-alike.ts';

describe('names look alike', () => {
  const pairs: readonly [string, string][] = [
    ['Ada Lovelace', 'ada lovelace'],
    ['Ada Lovelace', 'Ada  Love-lace.'],
    ['Ada Lovelace', 'Аdа Lоvеlасе'], // Cyrillic а, о, е, с
    ['Ada Lovelace', 'Αda Lονelace'], // Greek Α, ο, ν
    ['Ada Lovelace', 'Ada L0ve1ace'],
    ['Ada Lovelace', 'Ada Iovelace'],
    ['Ada Lovelace', 'Ａｄａ 𝐋𝐨𝐯𝐞𝐥𝐚𝐜𝐞'],
    ['Ada Lovelace', 'Àdá Lövelåce'],
    ['Ada Lovelace', 'Ada\u2003Love_lace'],
    ['Tom', 'Torn'],
    ['root', 'r00t'],
    ['Администратор', 'АДМИНИСТРАТОР'],
    ['nina', 'Νina'], // Greek capital nu
    ['nina', 'niηa'],
    ['nina', 'ɴina'],
    ['nina', 'Ոina'], // Armenian
    ['nina', 'ⲛina'], // Coptic
    ['nina', 'Ꮑina'], // Cherokee
    ['nina', 'ꓠina'], // Lisu
    ['nina', 'n1na'],
    ['nina', 'n.ina'],
    ['ada', 'ꓮda'],
    ['ada', 'ᴀda'],
    ['ada', 'Ada ✓'],
    ['ada', 'Ada🙂'],
    ['ada', '👩🏽‍💻 Ada ⭐️🇩🇪'],
    ['ada', '🅐🅳🅐'],
    ['cyd', 'Ϲyd'], // lunate sigma
    ['dora', 'ᎠᏫᖇᎪ'],
    ['Νίνα', 'νίνα'],
  ];
  const areAlike = (one: string, other: string) => skeletons(one).some((look) => skeletons(other).includes(look));
  test.each(pairs)('%s and %s', (one, other) => expect(areAlike(one, other)).toBe(true));

  test('and those of nothing but symbols have no look', () => {
    for (const name of ['🙂', '✓ ✓', '---', '\u200b']) expect(skeletons(name)).toEqual([]);
  });
});

test.each([
  ['Ada', 'Adam'],
  ['root', 'boot'],
  ['Ann', 'Anne'],
  ['李雷', '韩梅梅'],
  ['राम', 'सीता'],
])('%s and %s do not look alike', (one, other) => expect(skeleton(other)).not.toBe(skeleton(one)));

test('the skeleton of any text is found in little time, and is its own skeleton', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), (text) => {
      const seen = skeleton(text);
      expect(skeleton(seen.toUpperCase()).length).toBeLessThanOrEqual(seen.length * 3);
    }),
  );
  expect(skeleton(`a${'\u0301'.repeat(200)}`)).toBe('a');
});
