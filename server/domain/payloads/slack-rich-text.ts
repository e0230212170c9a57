import { withEmoji } from './emoji.ts';
import { type Json, objects, pick, text } from './json.ts';
import {
  code,
  codeBlock,
  escapeInline,
  escapeStart,
  lineBreak,
  linkTo,
  paragraphs,
  plain,
  quote,
  renderUpTo,
} from './markdown.ts';

/** Returns a block of Slack's editor as Markdown: its elements up to about `maxLength` characters. */
export const richText = (block: Json, maxLength: number): string =>
  paragraphs(
    ...renderUpTo(
      maxLength,
      objects(block, 'elements'),
      (one) => pick(parts, text(one, 'type'))?.(one, maxLength) ?? '',
    ),
  );

const parts: Readonly<Record<string, (part: Json, maxLength: number) => string>> = {
  rich_text_section: (part, maxLength) => inline(part, maxLength),
  rich_text_quote: (part, maxLength) => quote(inline(part, maxLength)),
  rich_text_preformatted: (part, maxLength) =>
    codeBlock(
      renderUpTo(maxLength, objects(part, 'elements'), (one) => written(one, 'text') || written(one, 'url'))
        .join('')
        .slice(0, maxLength),
    ),
  rich_text_list: (part, maxLength) => {
    const isOrdered = text(part, 'style') === 'ordered';
    const indent = '   '.repeat(Math.max(0, Math.min(4, Number(text(part, 'indent')) || 0)));
    return renderUpTo(
      maxLength,
      objects(part, 'elements'),
      (item, n) => `${indent}${isOrdered ? `${n + 1}.` : '-'} ${inline(item, maxLength).replaceAll('\n', ' ')}`,
    ).join('\n');
  },
};

const inline = (part: Json, maxLength: number): string =>
  renderUpTo(maxLength, objects(part, 'elements'), (one) => pick(inlines, text(one, 'type'))?.(one, maxLength) ?? '')
    .join('')
    .trim()
    .split(lineBreak)
    .map(escapeStart)
    .join('\n');

/** Returns a text with the blanks around it, which count here. */
const written = (one: Json, name: 'text' | 'url'): string => {
  const value = one[name];
  return typeof value === 'string' ? value : '';
};

const inlines: Readonly<Record<string, (one: Json, maxLength: number) => string>> = {
  text: styled,
  link: (one) => linkTo(text(one, 'text') ? plain(text(one, 'text')) : '', text(one, 'url')),
  emoji: (one) => escapeInline(withEmoji(`:${text(one, 'name')}:`)),
  broadcast: () => '@all',
  user: (one) => escapeInline(`@${text(one, 'user_id')}`),
  channel: (one) => escapeInline(`#${text(one, 'channel_id')}`),
  date: (one) => plain(text(one, 'fallback')),
};

/** Blanks stay outside of the marks, which would not count beside them. */
function styled(one: Json, maxLength: number): string {
  const said = written(one, 'text').slice(0, maxLength);
  const inner = said.trim();
  if (inner === '') return said;
  const start = said.length - said.trimStart().length;
  const before = said.slice(0, start);
  const after = said.slice(start + inner.length);
  if (text(one, 'style.code') === 'true') return `${before}${code(inner)}${after}`;
  const around =
    (text(one, 'style.strike') === 'true' ? '~~' : '') +
    (text(one, 'style.bold') === 'true' ? '**' : '') +
    (text(one, 'style.italic') === 'true' ? '*' : '');
  return `${before}${around}${escapeInline(inner)}${[...around].reverse().join('')}${after}`;
}
