import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { handlesIn } from '../../domain/mentions.ts';

/** The longest reading of each handle, and `all` for `@all`. */
function found(markdown: string): string[] {
  const handles = handlesIn(markdown);
  return [...(handles?.names.map(([name = '']) => name) ?? []), ...(handles?.all ? ['all'] : [])];
}

describe('the handles in a text', () => {
  test.each([
    ['hi @ada', ['ada']],
    ['@Ada, @BOB;@cleo', ['ada', 'bob', 'cleo']],
    ['(@ada) "@bob" <@cleo> @dan/@erin', ['ada', 'bob', 'cleo', 'dan', 'erin']],
    ['@ada. @bob- @cleo_ @dan… @erin!', ['ada', 'bob', 'cleo', 'dan', 'erin']],
    ['_@ada_ *@bob* **@cleo** ~~@dan~~', ['ada', 'bob', 'cleo', 'dan']],
    ['@ada @ADA @ada', ['ada']],
    ['@ada.lovelace @x-1_y', ['ada.lovelace', 'x-1_y']],
    ['@adaさん こんにちは@bob @cleo님', ['ada', 'bob', 'cleo']],
    ['@all and @ada', ['ada', 'all']],
    ['@ALL.', ['all']],
    ['@all-hands', ['all-hands']],
    ['a line\r\n@ada\rand\n@bob', ['ada', 'bob']],
    ['> @ada', ['ada']],
  ])('%j', (text, names) => expect(found(text)).toEqual(names));

  test.each([
    ['an e-mail address', 'mail ada@bob.example, a_@bob, a-+@bob, почта@bob'],
    ['a URL', 'https://a.example/@ada http://x@bob www.a.example/@ada medium.com/@ada [a](https://b.example/@ada)'],
    ['an account elsewhere', '@ada@bob.example @@ada'],
    ['another word', '@adaé @ada-é @adaж @éada @'],
    ['an escaped @', '\\@ada &#64;ada \\@\n\n\\@ @'],
    ['inline code', '`@ada` ``@ada ` @ada`` `a\n@ada`'],
    ['fenced code', '```js\n@ada\n```'],
    ['fenced code without an end', '~~~\n@ada\n```\n@ada'],
    ['fenced code with a longer fence', '````\n@ada\n```\n@ada\n``` x\n@ada\n````'],
    ['fenced code within a quotation', '> ```\n> @ada\n> ```'],
    ['fenced code within a list', '- ```\n  @ada\n  ```\n1. ~~~ js\n   @ada\n   ~~~\n2. > ```\n   > @ada\n'],
    ['fenced code deep within', `${'> '.repeat(4_000)}\`\`\`\n${'> '.repeat(4_000)}@ada`],
    ['indented code', 'text\n\n    @ada\n\n\t@ada\n\n- a\n\n      @ada\n\n>     @ada'],
    ['the address or the title of a link', '[a](/@ada "@ada") [b]\n\n[b]: /@ada'],
  ])('are not those in %s', (_, text) => expect(found(text)).toEqual([]));

  test.each([
    ['after code', '`code` @ada\n```\ncode\n```\n@bob', ['ada', 'bob']],
    ['after a backtick that nothing closes', '` @ada', ['ada']],
    ['after a backtick in another paragraph', 'a ` @ada\n\nb ` @bob', ['ada', 'bob']],
    ['after an escaped backtick', '\\`@ada`', ['ada']],
    ['after an escaped backslash', '\\\\@ada', ['ada']],
    ['after a code span that ends with a backslash', '`\\`@ada `\\@cleo`', ['ada']],
    ['after fenced code in a list', '- ```\n  @ada\n  ```\n\n@bob please look', ['bob']],
    ['after fenced code that ends with its list item', '1. ```\n   @ada\n2. @bob', ['bob']],
    ['after fenced code that ends with its quotation', '> ```\n> @ada\n\n@bob', ['bob']],
    ['after a fence that is indented as code', 'a\n\n    ```\n\n@bob', ['bob']],
    ['in an indented line of a paragraph', 'text\n    @ada\n- a\n      @bob', ['ada', 'bob']],
    [
      'in blocks side by side',
      '- @ada\n  - bob\n- @cleo\n  # dan\n> @erin\n***\n@finn',
      ['ada', 'cleo', 'erin', 'finn'],
    ],
    [
      'in HTML, but for its code',
      '<div>\n@ada `@bob`\n</div> <b title="@cleo">x</b> <code>@dan</code>',
      ['ada', 'cleo', 'dan'],
    ],
    ['beside emphasis and links', 'a**b**@ada [c](d)@bob @cleo*é*', ['ada', 'bob', 'cleo']],
    ['beside a URL', '@ada https://a.example/@bob @cleo', ['ada', 'cleo']],
  ])('are those %s', (_, text, names) => expect(found(text)).toEqual(names));

  test('may be shorter than they are written, at a dot, a dash or an underscore', () => {
    expect(handlesIn('@ada.Thanks')?.names).toEqual([['ada.thanks', 'ada']]);
    expect(handlesIn('@a-b_c.d')?.names).toEqual([['a-b_c.d', 'a-b_c', 'a-b', 'a']]);
    expect(handlesIn('@all.Thanks')?.names).toEqual([['all.thanks']]);
    const long = `${'x'.repeat(38)}.more`;
    expect(handlesIn(`@${long}`)?.names).toEqual([['x'.repeat(38)]]);
  });

  test('are found after any number of escaped backticks', () => {
    expect(found(`\`\`@ada\\\`\` ${'\\``'.repeat(5_000)} @bob`)).toEqual(['bob']);
  });

  test('are at most 50, with at most five readings each', () => {
    const names = Array.from({ length: 80 }, (_, i) => `@a.a.a.a.a.a.a.${i}`).join(' ');
    const handles = handlesIn(`${names} @all`);
    expect(handles?.all).toBe(true);
    expect(handles?.names.length).toBe(50);
    expect(Math.max(...(handles?.names.map((likely) => likely.length) ?? []))).toBe(5);
  });

  test('are names that a user may have, whatever the text', () => {
    const unit = fc.constantFrom(
      '@',
      'a',
      'B',
      '1',
      '.',
      '-',
      '_',
      '`',
      '\n',
      ' ',
      '\\',
      '~',
      '>',
      '/',
      ':',
      'é',
      '名',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 80 }), (text) => {
        for (const name of handlesIn(text)?.names.flat() ?? []) {
          expect(name).toMatch(/^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
