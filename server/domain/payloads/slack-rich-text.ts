import { withEmoji } from './emoji.ts';
import { type Json, objects, text } from './json.ts';
import { code, codeBlock, escapeInline, escapeStart, linkTo, plain, quote } from './markdown.ts';

/** Returns a block of Slack's editor as Markdown. */
export const richText = (block: Json): string =>
  objects(block, 'elements')
    .map((one) => parts[text(one, 'type')]?.(one) ?? '')
    .filter(Boolean)
    .join('\n\n');

const parts: Readonly<Record<string, (part: Json) => string>> = {
  rich_text_section: (part) => inline(part),
  rich_text_quote: (part) => quote(inline(part)),
  rich_text_preformatted: (part) =>
    codeBlock(
      objects(part, 'elements')
        .map((one) => String(one.text ?? one.url ?? ''))
        .join(''),
    ),
  rich_text_list: (part) => {
    const isOrdered = text(part, 'style') === 'ordered';
    const indent = '   '.repeat(Math.min(4, Number(text(part, 'indent')) || 0));
    return objects(part, 'elements')
      .map((item, n) => `${indent}${isOrdered ? `${n + 1}.` : '-'} ${inline(item).replaceAll('\n', ' ')}`)
      .join('\n');
  },
};

const inline = (part: Json): string =>
  objects(part, 'elements')
    .map((one) => inlines[text(one, 'type')]?.(one) ?? '')
    .join('')
    .trim()
    .split('\n')
    .map(escapeStart)
    .join('\n');

const inlines: Readonly<Record<string, (one: Json) => string>> = {
  text: styled,
  link: (one) => linkTo(text(one, 'text') ? plain(text(one, 'text')) : '', text(one, 'url')),
  emoji: (one) => escapeInline(withEmoji(`:${text(one, 'name')}:`)),
  broadcast: () => '@all',
  user: (one) => escapeInline(`@${text(one, 'user_id')}`),
  channel: (one) => escapeInline(`#${text(one, 'channel_id')}`),
  date: (one) => plain(text(one, 'fallback')),
};

/** Blanks stay outside of the marks, which would not count beside them. */
function styled(one: Json): string {
  const said = typeof one.text === 'string' ? one.text : '';
  const [, before = '', inner = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(said) ?? [];
  if (inner === '') return said;
  if (text(one, 'style.code') === 'true') return `${before}${code(inner)}${after}`;
  const around =
    (text(one, 'style.strike') === 'true' ? '~~' : '') +
    (text(one, 'style.bold') === 'true' ? '**' : '') +
    (text(one, 'style.italic') === 'true' ? '*' : '');
  return `${before}${around}${escapeInline(inner)}${[...around].reverse().join('')}${after}`;
}
