import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { handlesIn } from '../../domain/mentions.ts';
import type { Json } from '../../domain/payloads/json.ts';
import { code, codeBlock, fit, link, paragraph, plain, TextLimit } from '../../domain/payloads/markdown.ts';
import { renderPayload as render } from '../../domain/payloads/payload.ts';
import { slackText as textIn } from '../../domain/payloads/slack-text.ts';

const maxLength = 32_768;
const renderPayload = (payload: Json, header: (name: string) => string | null = () => null) =>
  render(payload, header, maxLength);
const slackText = (text: string, options: { linkNames?: boolean } = {}) =>
  textIn(text, { limit: new TextLimit(maxLength), ...options });

interface Vector {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

const folder = join(import.meta.dir, 'payloads');
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? file.slice(0, -5) : []));
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

const vectors = names.map((name) => JSON.parse(read(`${name}.json`)) as Vector);

/** The fields that say what a payload is. */
const shapes = new Set(['object_kind', 'type', 'status', 'action', 'ref', '']);

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
    'x\r# heading',
    'x\u2028- item',
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

describe('a message that is too long for one line', () => {
  test('mentions nobody where it was cut within code', () => {
    const long = `${'word '.repeat(18)}${code(`${'x '.repeat(10)}@all ${'y '.repeat(60)}`)}`;
    for (let bytes = 60; bytes < Buffer.byteLength(long); bytes++) {
      const cut = fit(long, bytes);
      expect(handlesIn(cut)).toBeUndefined();
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
    }
  });

  test('closes its code with the marks that began it', () => {
    for (const fence of ['````````', '~~~', '  ```']) {
      const cut = fit(`${fence}\n${'code @all\n'.repeat(100)}`, 200);
      expect(cut).toEndWith(`\n${fence}\n…`);
      expect(handlesIn(cut)).toBeUndefined();
    }
  });
});

describe("a block of Markdown in Slack's form", () => {
  const markdown = (...texts: string[]) =>
    renderPayload({ blocks: texts.map((text) => ({ type: 'markdown', text })) })?.markdown ?? '';

  test.each(['@all', '\\@all', '\\\\@all', '\\\\\\@all', '`\\`@all', 'a\r@all'])('%j mentions nobody', (text) => {
    expect(handlesIn(markdown(text))).toBeUndefined();
  });

  test.each(['```', '~~~', '- a\n  ```', '````` x', 'x\r```'])('%j cannot end the code of the next block', (text) => {
    const section = { type: 'section', text: { type: 'mrkdwn', text: '```@all```' } };
    const { markdown = '' } = renderPayload({ blocks: [{ type: 'markdown', text }, section] }) ?? {};
    expect(handlesIn(markdown)).toBeUndefined();
  });
});

test.each(['\r', '\r\n', '\u2028', '\u2029'])('%j ends a line, and no line is lost', (end) => {
  expect(slackText(`one${end}*two*${end}- three`)).toBe('one\n**two**\n- three');
  expect(paragraph(`one${end}two`)).toBe('one\ntwo');
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text: `one${end}# two` }] }];
  expect(renderPayload({ blocks: [{ type: 'rich_text', elements }] })?.markdown).toBe('one\n\\# two');
});

/** A quadratic step in one of them takes minutes, and the test hangs. */
describe('a megabyte of one sign is rendered at once', () => {
  const signs = [' ', '\n', '\t', '\u2028', '\\', '`', '*', '_', '~', '<', '>', '-', '@', ':', '[', '1.', '- ', '&lt;'];
  test.each(signs)('%j', (sign) => {
    const text = `x${sign.repeat(1_000_000 / sign.length)}x`;
    const rich = (type: string) => ({ type, elements: [{ type: 'text', text, style: { bold: true } }] });
    const payloads = [
      { text },
      { text, mrkdwn: false },
      { blocks: [{ type: 'section', fields: [{ type: 'mrkdwn', text }] }] },
      { blocks: [{ type: 'markdown', text }] },
      { blocks: [{ type: 'header', text: { text } }] },
      {
        blocks: [
          { type: 'rich_text', elements: ['section', 'quote', 'preformatted'].map((of) => rich(`rich_text_${of}`)) },
        ],
      },
      { attachments: [{ text, title: text, title_link: text, fields: [{ title: text, value: text }] }] },
    ];
    for (const payload of payloads) expect(renderPayload(payload)?.form).toBe('slack');
    expect(codeBlock(text).length).toBeGreaterThan(1_000_000);
    expect(Buffer.byteLength(fit(text, 16_384))).toBeLessThanOrEqual(16_384);
    for (const { headers, body } of vectors) {
      const filled = JSON.parse(JSON.stringify(body), (key, one: unknown) =>
        typeof one === 'string' && !shapes.has(key) ? text : one,
      ) as Json;
      renderPayload(filled, (header) => headers[header] ?? null);
    }
  });
});

test('what comes after the longest message is not rendered', () => {
  const text = '*a* _b_ '.repeat(1_000);
  const many = <T>(one: T): T[] => Array.from({ length: 5_000 }, () => one);
  const said = { type: 'text', text };
  const payloads: Json[] = [
    { blocks: [{ type: 'context', elements: many({ type: 'mrkdwn', text }) }] },
    { blocks: [{ type: 'rich_text', elements: many({ type: 'rich_text_section', elements: [said] }) }] },
    { blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: many(said) }] }] },
    { blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements: many(said) }] }] },
    { blocks: many({ type: 'section', text: { type: 'mrkdwn', text } }) },
    { attachments: many({ text }) },
  ];
  for (const payload of payloads) {
    const { markdown = '' } = renderPayload(payload) ?? {};
    expect(markdown.length).toBeGreaterThan(8_000);
    expect(markdown.length).toBeLessThan(3 * maxLength);
  }
});

test('texts that say nothing are read no further than others', () => {
  let read = 0;
  const text = '<!x|>'.repeat(1_000);
  const element = () => ({
    type: 'mrkdwn',
    get text() {
      read++;
      return text;
    },
  });
  const context = () => ({ type: 'context', elements: Array.from({ length: 25 }, element) });
  const attachments = Array.from({ length: 20 }, () => ({ blocks: Array.from({ length: 50 }, context) }));
  expect(renderPayload({ attachments })?.markdown?.length).toBeLessThan(10);
  expect(read).toBeLessThan((2 * maxLength) / text.length);
});

test('a service with thousands of alerts or commits costs as much as with those that are shown', () => {
  let read = 0;
  const counted = () => new Proxy({}, { getOwnPropertyDescriptor: () => void read++ });
  const alerts = Array.from({ length: 5_000 }, counted);
  renderPayload({ status: 'firing', groupLabels: {}, alerts });
  const commits = Array.from({ length: 5_000 }, counted);
  renderPayload({ ref: 'refs/heads/main', commits }, (name) => (name === 'x-github-event' ? 'push' : null));
  renderPayload({ object_kind: 'push', project: {}, ref: 'refs/heads/main', commits });
  // The state of each alert is counted, and nothing else of those that are left out.
  expect(read).toBeLessThan(5_000 + 1_000);
});

test('a deeply nested payload is nothing to get lost in', () => {
  let deep: unknown = 'x';
  for (let i = 0; i < 5_000; i++) deep = { elements: [deep], type: 'rich_text', blocks: [deep] };
  expect(renderPayload({ blocks: [deep] })?.markdown).toBe('');
});

test('a documented payload with any values in its fields is rendered, and mentions nobody', () => {
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
        return !shapes.has(key) && typeof one === 'string' && count++ % (every + 1) === 0
          ? values[count % values.length]
          : one;
      }) as Json;
      const rendered = renderPayload(replaced, (header) => headers[header] ?? null);
      const isAsked = JSON.stringify(replaced).includes('<!');
      if (!isAsked) expect(handlesIn(rendered?.markdown ?? '')).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});

/** Names that every object has. */
const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'];

test.each(inherited)('a payload with %s for any name or value is rendered', (name) => {
  const odd = JSON.parse(`{"${name}": 1, "toString": 1, "valueOf": 1}`) as Json;
  for (const { headers, body } of vectors) {
    for (const value of [name, odd]) {
      for (const only of ['type', 'status', 'action', 'state', 'object_kind', 'text', 'indent', 'style', undefined]) {
        const spoilt = JSON.parse(JSON.stringify(body), (key, one: unknown) =>
          typeof one !== 'object' && (only === undefined || key === only) ? value : one,
        ) as Json;
        renderPayload(spoilt, (header) => headers[header] ?? null);
        renderPayload(spoilt, (header) => (headers[header] === undefined ? null : name));
      }
    }
  }
  const element = { type: name, text: odd, elements: [{ type: name }, { type: 'text', text: odd }] };
  const list = { type: 'rich_text_list', indent: -1, elements: [element] };
  const code = { type: 'rich_text_preformatted', elements: [{ text: odd }] };
  renderPayload({ blocks: [{ type: name }, { type: 'rich_text', elements: [element, list, code] }] });
});
