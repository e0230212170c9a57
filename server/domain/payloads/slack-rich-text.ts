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
  type TextLimit,
} from './markdown.ts';

/** Returns a block of Slack's editor as Markdown: its elements up to the limit. */
export const richText = (block: Json, limit: TextLimit): string =>
  paragraphs(...limit.render(objects(block, 'elements'), (one) => pick(parts, text(one, 'type'))?.(one, limit) ?? ''));

const parts: Readonly<Record<string, (part: Json, limit: TextLimit) => string>> = {
  rich_text_section: (part, limit) => inline(part, limit),
  rich_text_quote: (part, limit) => quote(inline(part, limit)),
  rich_text_preformatted: (part, limit) =>
    codeBlock(
      limit
        .render(objects(part, 'elements'), (one) => limit.take(written(one, 'text') || written(one, 'url')))
        .join(''),
    ),
  rich_text_list: (part, limit) => {
    const isOrdered = text(part, 'style') === 'ordered';
    const indent = '   '.repeat(Math.max(0, Math.min(4, Number(text(part, 'indent')) || 0)));
    return limit
      .render(
        objects(part, 'elements'),
        (item, n) => `${indent}${isOrdered ? `${n + 1}.` : '-'} ${inline(item, limit).replaceAll('\n', ' ')}`,
      )
      .join('\n');
  },
};

const inline = (part: Json, limit: TextLimit): string =>
  limit
    .render(objects(part, 'elements'), (one) => pick(inlines, text(one, 'type'))?.(one, limit) ?? '')
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

const inlines: Readonly<Record<string, (one: Json, limit: TextLimit) => string>> = {
  text: styled,
  link: (one) => linkTo(text(one, 'text') ? plain(text(one, 'text')) : '', text(one, 'url')),
  emoji: (one) => escapeInline(withEmoji(`:${text(one, 'name')}:`)),
  broadcast: () => '@all',
  user: (one) => escapeInline(`@${text(one, 'user_id')}`),
  channel: (one) => escapeInline(`#${text(one, 'channel_id')}`),
  date: (one) => plain(text(one, 'fallback')),
};

/** Blanks stay outside of the marks, which would not count beside them. */
function styled(one: Json, limit: TextLimit): string {
  const said = limit.take(written(one, 'text'));
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
