import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { handlesIn } from '../../domain/mentions.ts';
import type { Json } from '../../domain/payloads/json.ts';
import { code, fit, link, paragraph, plain } from '../../domain/payloads/markdown.ts';
import { renderPayload } from '../../domain/payloads/payload.ts';
import { slackText } from '../../domain/payloads/slack-text.ts';

interface Vector {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

const folder = join(import.meta.dir, 'payloads');
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? file.slice(0, -5) : []));
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** What each service documents that it sends, and the message that it becomes. */
test.each(names)('%s is a readable message', (name) => {
  const { headers, body } = JSON.parse(read(`${name}.json`)) as Vector;
  const rendered = renderPayload(body, (header) => headers[header] ?? null);
  expect(`${rendered?.markdown}\n`).toBe(read(`${name}.txt`));
});

describe('values of a payload', () => {
  const attacks = [
    '@all and @ada',
    '**bold** _it_ ~~gone~~ `code` [a](https://evil.example) <https://evil.example> ![x](y)',
    '# heading',
    '> quote',
    '- item',
    '1. item',
    '</code><script>alert(1)</script>',
    '&#64;all &commat;all',
    '``` \nopen',
    '\\@all \\\\@all',
    'a](https://evil.example) [b',
    '![a](https://evil.example/x)',
  ];

  test.each(attacks)('%j mentions nobody and formats nothing', (attack) => {
    for (const markdown of [plain(attack), link(attack, 'https://example.com'), paragraph(attack), code(attack)]) {
      expect(handlesIn(markdown)).toBeUndefined();
      const html = Bun.markdown.html(`x ${markdown}`, { noHtmlBlocks: true, noHtmlSpans: true });
      expect(html).not.toMatch(/<(?:strong|em|del|h1|blockquote|li|script|img)|href="(?!https:\/\/example\.com\/?")/);
    }
    const block = Bun.markdown.html(paragraph(attack), { noHtmlBlocks: true, noHtmlSpans: true });
    expect(block).not.toMatch(/<(?:h1|blockquote|li|pre|script)/);
  });

  test('a link leads only to the web or to mail', () => {
    expect(link('x', 'javascript:alert(1)')).toBe('x');
    expect(link('x', 'data:text/html,hi')).toBe('x');
    expect(link('x', '/relative')).toBe('x');
    expect(link('x', 'https://example.com/a b(c)')).toBe('[x](https://example.com/a%20b%28c%29)');
  });

  test('a label cannot become a picture in a client that drops the backslash before a bracket', () => {
    const label = link('![a](https://evil.example/x)', 'https://example.com');
    expect(label).toBe('[!\\[a\\]\\(https://evil.example/x)](https://example.com/)');
  });

  test("in Slack's markup only its own mention of all mentions anybody", () => {
    expect(handlesIn(slackText('@all @ada <@U1|ada> <!subteam^S1|@all>'))).toBeUndefined();
    expect(handlesIn(slackText('<!channel> look'))).toEqual({ names: [], all: true });
    expect(handlesIn(slackText('@ada', { linkNames: true }))?.names).toEqual([['ada']]);
  });
});

test('a long message is cut between lines, and closes its code', () => {
  const long = `intro\n${'`'.repeat(3)}\n${'a line of code é\n'.repeat(200)}${'`'.repeat(3)}`;
  const cut = fit(long, 1_000);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_000);
  expect(cut).toEndWith('a line of code é\n```\n…');
  expect(fit('short', 1_000)).toBe('short');
});

test('the worst texts take no longer than others', () => {
  const worst = ['*a ', '*_~', '<', '`', 'a`', '_ ', '>\n', 'https://', '*_a_ ', '&lt;'].map((part) =>
    part.repeat(40_000 / part.length),
  );
  const started = performance.now();
  for (const text of worst) slackText(text);
  // They take 60 ms together. A quadratic one takes seconds.
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('a deeply nested payload is nothing to get lost in', () => {
  let deep: unknown = 'x';
  for (let i = 0; i < 5_000; i++) deep = { elements: [deep], type: 'rich_text', blocks: [deep] };
  expect(renderPayload({ blocks: [deep] }, () => null)?.markdown).toBe('');
});

test('a documented payload with any values in its fields is rendered, and mentions nobody', () => {
  const vectors = names.map((name) => JSON.parse(read(`${name}.json`)) as Vector);
  const value = fc.oneof(
    fc.constantFrom(
      '@all',
      '`@all',
      '*@ada*',
      '[@all](x)',
      'https://x.example/@all',
      '<@all>',
      '\n@all',
      '\\@all',
      '_@all',
    ),
    fc.string(),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const spoilt = fc.tuple(fc.constantFrom(...vectors), fc.array(value, { minLength: 1, maxLength: 4 }), fc.nat(7));
  fc.assert(
    fc.property(spoilt, ([{ headers, body }, values, every]) => {
      let count = 0;
      const replaced = JSON.parse(JSON.stringify(body), (key, one: unknown) => {
        const isShape = ['object_kind', 'type', 'status', 'action', 'ref', ''].includes(key);
        return !isShape && typeof one === 'string' && count++ % (every + 1) === 0 ? values[count % values.length] : one;
      }) as Json;
      const rendered = renderPayload(replaced, (header) => headers[header] ?? null);
      const isAsked = JSON.stringify(replaced).includes('<!');
      if (!isAsked) expect(handlesIn(rendered?.markdown ?? '')).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});
