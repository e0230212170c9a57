import { withEmoji } from './emoji.ts';
import { pick } from './json.ts';
import { code, codeBlock, escapeInline, escapeStart, lineBreak, linkTo, plain, type TextLimit } from './markdown.ts';

const marks: Readonly<Record<string, string>> = { '*': '**', _: '*', '~': '~~' };

/** `*bold*`, `_italic_` and `~struck~`, not within a word and not across lines. */
const emphasis =
  /(?<![\p{L}\p{N}*_~])([*_~])(?=[^\s*_~]|[*_~][^\s*_~])((?:(?!\1)[^\n]){1,500})(?<=\S)\1(?![\p{L}\p{N}*])/gu;

/** Deeper emphasis is text. */
const maxDepth = 3;

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const unescapeEntities = (text: string): string =>
  text.replaceAll(/&(?:lt|gt|amp);/g, (name) => pick(entities, name) ?? name);

export interface SlackTextOptions {
  /** Whether `@name` mentions somebody. Without it only `<!channel>`, `<!here>` and `<!everyone>` mention anybody. */
  readonly linkNames?: boolean;
  /** Texts are cut at this limit, all texts of a payload together. */
  readonly limit: TextLimit;
}

/** Returns a text in Slack's markup as Markdown. */
export function slackText(text: string, { linkNames = false, limit }: SlackTextOptions): string {
  // The two signs stand for finished Markdown, which must not be escaped again.
  const held: string[] = [];
  const hold = (markdown: string): string => `\uE000${held.push(markdown) - 1}\uE001`;
  const prepared = limit
    .take(text)
    .toWellFormed()
    .replaceAll(lineBreak, '\n')
    .replaceAll(/[\uE000\uE001]/g, '')
    .replaceAll(/```(.*?)```/gs, (_, inner: string) => `\n${hold(codeBlock(unescapeEntities(inner)))}\n`)
    .replaceAll(/`([^`\n]+)`/g, (_, inner: string) => hold(code(unescapeEntities(inner))))
    .replaceAll(/<([^<>\n]+)>/g, (_, inner: string) => hold(reference(inner)));
  const asPlain = (part: string) => {
    const escaped = escapeInline(withEmoji(unescapeEntities(part)));
    return linkNames ? escaped.replaceAll('\\@', '@') : escaped;
  };
  const rendered = prepared
    .split('\n')
    .map((line) => renderLine(line, asPlain))
    .join('\n')
    // A line after a quote or a list would belong to it.
    .replaceAll(/^(>.*)\n(?!>|\n|$)/gm, '$1\n\n')
    .replaceAll(/^( {0,3}(?:-|\d{1,3}\.) .*)\n(?! {0,3}(?:-|\d{1,3}\.) |\n|$)/gm, '$1\n\n')
    .replaceAll(/\n{3,}/g, '\n\n');
  return rendered.replaceAll(/\uE000(\d+)\uE001/g, (_, n: string) => held[Number(n)] ?? '').trim();
}

type Escape = (part: string) => string;

/** Lists and quotes stay what they are. */
function renderLine(line: string, asPlain: Escape): string {
  const [, start = '', rest = ''] = /^(\s{0,3}(?:(?:>|&gt;){1,3}\s?|[-•]\s+|\d{1,3}\.\s+)?)(.*)$/su.exec(line) ?? [];
  const kept = start.replace(/(?:>|&gt;){1,3}/, '>').replace('•', '-');
  return `${kept}${escapeStart(inline(rest, asPlain, 0))}`;
}

function inline(text: string, asPlain: Escape, depth: number): string {
  if (depth > maxDepth) return asPlain(text);
  let rendered = '';
  let end = 0;
  for (const { 0: all, 1: mark = '', 2: inner = '', index } of text.matchAll(emphasis)) {
    rendered += `${asPlain(text.slice(end, index))}${marks[mark]}${inline(inner, asPlain, depth + 1)}${marks[mark]}`;
    end = index + all.length;
  }
  return rendered + asPlain(text.slice(end));
}

/** Renders what stands between `<` and `>`: a link, a mention, a channel or a date. */
function reference(inner: string): string {
  const [target = '', ...rest] = inner.split('|');
  const label = unescapeEntities(rest.join('|'));
  if (/^!(?:channel|here|everyone)$/.test(target)) return '@all';
  if (target.startsWith('!')) return plain(label);
  if (target.startsWith('@')) return plain(`@${label || target.slice(1)}`);
  if (target.startsWith('#')) return escapeInline(`#${label || target.slice(1)}`);
  const url = unescapeEntities(target);
  return linkTo(label === '' ? '' : plain(withEmoji(label)), url) || plain(url);
}
