import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import type { MessageRecord } from '../store/records.ts';
import { languageClass } from './code.ts';
import './markdown.css';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');

/** Messages show HTML as text, and pictures of other hosts as links: loading them would tell those hosts who reads. */
const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
});

/** The names that the message mentions, while it is rendered. The server has found them: others are plain text. */
let mentioned: ReadonlySet<string> = new Set();
let ownName = '';

/** The longest mentioned name at the start of a handle, as the server finds it. */
function mentionedName(handle: string): string | undefined {
  for (let name = handle.replace(/[._-]+$/, ''); name !== ''; name = name.replace(/[._-]*[^._-]*$/, '')) {
    if (mentioned.has(name.toLowerCase())) return name;
  }
  return undefined;
}

marked.use({
  extensions: [
    {
      name: 'mention',
      level: 'inline',
      start: (text) => (mentioned.size === 0 ? undefined : (/(?<![\p{L}\p{N}_+%.-])@/u.exec(text)?.index ?? undefined)),
      tokenizer(text) {
        if (mentioned.size === 0 || this.lexer.state.inLink) return undefined;
        const name = mentionedName(/^@([a-z\d][a-z\d._-]*)/i.exec(text)?.[1] ?? '');
        return name === undefined ? undefined : { type: 'mention', raw: `@${name}`, text: `@${name}` };
      },
      renderer: ({ text }) => {
        const name = String(text).slice(1).toLowerCase();
        const isMe = name === 'all' || name === ownName;
        return `<span class="mention${isMe ? ' me' : ''}">${escapeHtml(String(text))}</span>`;
      },
    },
  ],
});

const allowed = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre'],
    ...['span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['class', 'href', 'start', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Links of other hosts open in a new tab, which learns nothing about this one. */
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const link = node as HTMLAnchorElement;
  if (!link.hasAttribute('href') || link.origin === location.origin) return;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
});

/** The classes of mentions, and of the parts of coloured code. */
const spanClass = /^(?:mention(?: me)?|hljs-[\w -]+)$/;

/** No other class is ours, so none gives a message the look of something else. */
DOMPurify.addHook('uponSanitizeAttribute', ({ tagName }, data) => {
  if (data.attrName !== 'class') return;
  const isOurs = tagName === 'CODE' ? languageClass.test(data.attrValue) : spanClass.test(data.attrValue);
  if (!isOurs) data.keepAttr = false;
});

/** Anything but tags that can do nothing. Most messages have no others, and to check them takes longer than all the rest. */
const otherTag = /<(?!\/?(?:blockquote|br|code|del|em|h[1-6]|hr|li|ol|p|pre|strong|ul)>)/;

const maxCached = 1_000;
const cache = new Map<string, string>();

/** Whom a message mentions: their names, and that of the reader. */
export interface MentionedNames {
  readonly names: readonly string[];
  readonly me: string;
}

/** Returns the HTML of a message: safe, whatever it contains. */
export function renderMarkdown(text: string, mentions: MentionedNames = { names: [], me: '' }): string {
  const key = `${mentions.names.join(' ')}\n${text}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  mentioned = new Set(mentions.names.map((name) => name.toLowerCase()));
  ownName = mentions.me.toLowerCase();
  const parsed = marked.parse(text, { async: false });
  const html = otherTag.test(parsed) ? DOMPurify.sanitize(parsed, allowed) : parsed;
  if (cache.size >= maxCached) cache.delete(cache.keys().next().value ?? '');
  cache.set(key, html);
  return html;
}

const plain = new Map<string, string>();

/** Returns the text of a message in one line, without Markdown marks. */
export function plainText(text: string): string {
  const cached = plain.get(text);
  if (cached !== undefined) return cached;
  const line = inOneLine(text);
  if (plain.size >= maxCached) plain.delete(plain.keys().next().value ?? '');
  plain.set(text, line);
  return line;
}

function inOneLine(text: string): string {
  const parts: string[] = [];
  const collect = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      const inner = innerTokens(token);
      if (inner) collect(inner);
      else if (token.type === 'br' || token.type === 'space') parts.push(' ');
      else if ('text' in token) parts.push(token.text);
      if (blocks.has(token.type)) parts.push(' ');
    }
  };
  collect(marked.lexer(text));
  return parts.join('').replace(/\s+/g, ' ').trim();
}

const blocks: ReadonlySet<string> = new Set(['paragraph', 'heading', 'code', 'list_item', 'blockquote', 'table']);

function innerTokens(token: Token): readonly Token[] | undefined {
  if (token.type === 'list') return token.items;
  if (token.type === 'table') return [...token.header, ...token.rows.flat()].flatMap(({ tokens }) => [...tokens, gap]);
  return 'tokens' in token && token.type !== 'image' ? token.tokens : undefined;
}

const gap: Token = { type: 'space', raw: ' ' };

const onlyEmoji = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s){1,12}$/u;

/** Returns whether a message is nothing but a few emoji. */
export const isEmoji = (text: string): boolean => onlyEmoji.test(text) && /\p{Extended_Pictographic}/u.test(text);

/** A quote has one line. */
const quoteLength = 300;

/** Returns the start of a message in plain text, or the name of its file. */
export const quoteOf = ({ content, file }: Pick<MessageRecord, 'content' | 'file'>): string | undefined =>
  plainText(content.slice(0, quoteLength)) || file?.name;
