/** Longer values of a payload are cut: a message is read, not searched. */
const maxLine = 300;
const maxParagraph = 1_500;

/** Characters that mean something in Markdown, or mention somebody. */
const special = /[\\`*_{}[\]<>~|@&$]/g;

/** They begin a heading, a quote, a list or a rule. */
const lineStart = /^(\s*)(?:([#>+=-])|(\d{1,9})([.)]))/;

/** A URL stays as it is, so that readers can follow it. It contains no character that could end or begin a link. */
const bareUrl = /https?:\/\/[\w\-.~:/?#%=&+,;$!@]*[\w/#%=&+$-]/g;

/** Returns a text with every character that Markdown or a mention could act on escaped. */
export function escapeInline(text: string): string {
  let escaped = '';
  let end = 0;
  for (const match of text.matchAll(bareUrl)) {
    escaped += escapePart(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return escaped + escapePart(text.slice(end));
}

/** Some renderers remove the backslash before a bracket in the label of a link. The one before the parenthesis stays. */
const escapePart = (text: string): string => text.replaceAll(special, '\\$&').replaceAll('\\](', '\\]\\(');

/** Escapes what begins a block at the start of a line. */
export const escapeStart = (line: string): string =>
  line.replace(lineStart, (_, blanks: string, mark: string | undefined, digits: string, dot: string) =>
    mark === undefined ? `${blanks.slice(0, 3)}${digits}\\${dot}` : `${blanks.slice(0, 3)}\\${mark}`,
  );

/** Returns a text cut to so many characters, at a space if there is one nearby. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const short = text.slice(0, max).toWellFormed().replaceAll('\uFFFD', '');
  const space = short.lastIndexOf(' ');
  return `${short.slice(0, space > max - 40 ? space : short.length).trimEnd()}…`;
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Returns a value as plain text in one line. */
export const plain = (text: string, max = maxLine): string => escapeStart(escapeInline(cut(inOneLine(text), max)));

/** What ends a line, for Markdown or for regular expressions. */
export const lineBreak = /\r\n|[\n\r\u2028\u2029]/g;

/** Returns a value as plain text that keeps its lines. */
export const paragraph = (text: string, max = maxParagraph): string =>
  cut(text.trim(), max)
    .split(lineBreak)
    .map((line) => escapeStart(escapeInline(line.trimEnd())).replace(/^\s{4,}/, '   '))
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');

export const bold = (text: string): string => (text.trim() === '' ? '' : `**${plain(text)}**`);

/** Returns a value as code in one line. */
export function code(text: string): string {
  const line = cut(inOneLine(text), maxLine);
  if (line === '') return '';
  const fence = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Returns a value as a block of code. */
export function codeBlock(text: string): string {
  const shown = text.replace(/^\n+/, '').trimEnd();
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}\n${shown}\n${fence}`;
}

const longestRun = (text: string): number =>
  text.match(/`+/g)?.reduce((longest, run) => Math.max(longest, run.length), 0) ?? 0;

/** Returns a URL that can stand in a link, or undefined for anything but http, https and mailto. */
function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url.trim())) return undefined;
  const { protocol, href } = new URL(url.trim());
  if (!['http:', 'https:', 'mailto:'].includes(protocol) || href.length > 2_048) return undefined;
  return href.replaceAll(/[()<>\\`[\]|]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns a link whose label is Markdown, or only the label if the URL cannot stand in a link. */
export function linkTo(label: string, url: string): string {
  const safe = safeUrl(url);
  if (safe === undefined) return label;
  return label === '' ? `<${safe}>` : `[${label}](${safe})`;
}

/** Returns a link whose label is a value, as plain text. */
export const link = (label: string, url: string): string => linkTo(plain(label), url);

export const quote = (markdown: string): string =>
  markdown === ''
    ? ''
    : markdown
        .split('\n')
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');

type Part = string | false | undefined;

const joined = (parts: readonly Part[], by: string): string => parts.filter(Boolean).join(by);

export const words = (...parts: readonly Part[]): string => joined(parts, ' ');
export const lines = (...parts: readonly Part[]): string => joined(parts, '\n');
export const paragraphs = (...parts: readonly Part[]): string => joined(parts, '\n\n');
export const dotted = (...parts: readonly Part[]): string => joined(parts, ' · ');

/** Returns a list of at most `max` items, and how many more there are. */
export function bullets<T>(items: readonly T[], max: number, render: (item: T) => string): string {
  const shown = items.slice(0, max).map((item) => `- ${render(item).replaceAll('\n', '\n  ')}`);
  return lines(...shown, items.length > max && `- … and ${items.length - max} more`);
}

/** Limits the work for one payload: the characters of its texts that are read, and those of each list that is rendered. */
export class TextLimit {
  readonly maxLength: number;
  #left: number;

  constructor(maxLength: number) {
    this.maxLength = maxLength;
    this.#left = maxLength;
  }

  /** Returns as much of a text as may still be read. */
  take(text: string): string {
    const taken = text.slice(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }

  /** Renders items until the limit is reached. Later ones would be cut anyway, so they cost nothing. */
  render<T>(items: readonly T[], render: (item: T, n: number) => string): string[] {
    const rendered: string[] = [];
    let length = 0;
    for (const [n, item] of items.entries()) {
      if (length > this.maxLength || this.#left <= 0) break;
      const one = render(item, n);
      length += one.length;
      rendered.push(one);
    }
    return rendered;
  }
}

/** Escapes every `@` that is not escaped. A run of backslashes is taken as a whole: half of it could be left to the `@`. */
export const escapeMentions = (markdown: string): string =>
  markdown.replaceAll(/\\+@?|@/g, (part) => (part.endsWith('@') ? '\\@' : part));

const encoder = new TextEncoder();
const cutMark = '\n…';

/**
 * Returns Markdown in at most `maxBytes` bytes of UTF-8: whole lines, and no open block of code. If the last line is too long,
 * it mentions nobody: it may have been cut within code, where an `@` is not escaped.
 */
export function fit(markdown: string, maxBytes: number): string {
  if (encoder.encode(markdown).length <= maxBytes) return markdown;
  const room = maxBytes - encoder.encode(cutMark).length - 8;
  const whole = startOf(markdown, room);
  const end = whole.lastIndexOf('\n');
  const kept = end > whole.length / 2 ? whole.slice(0, end) : withoutMentions(whole, end + 1, room);
  return `${closed(kept)}${cutMark}`;
}

/** Returns as much of a text as has room in so many bytes. */
function startOf(text: string, maxBytes: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes))).read);
}

/** Escaping makes the line longer, so it is cut again: before a backslash, which must not lose its `@`. */
function withoutMentions(markdown: string, lastLine: number, maxBytes: number): string {
  const escaped = markdown.slice(0, lastLine) + escapeMentions(markdown.slice(lastLine));
  return escaped.length === markdown.length ? markdown : startOf(escaped, maxBytes).replace(/\\$/, '');
}

/** Ends a block of code that is not closed. */
export function closed(markdown: string): string {
  const open = openFence(markdown);
  return open === undefined ? markdown : `${markdown}\n${open}`;
}

/** Returns the line that ends a block of code that is not closed. Within a list it needs the same indent as the first one. */
function openFence(markdown: string): string | undefined {
  let open: string | undefined;
  for (const [, indent = '', fence = '', rest = ''] of markdown.matchAll(/^( {0,3})(`{3,}|~{3,})([^\n]*)/gm)) {
    if (open === undefined) open = fence.startsWith('`') && rest.includes('`') ? undefined : indent + fence;
    else if (fence.startsWith(open.trim()) && rest.trim() === '') open = undefined;
  }
  return open;
}
