import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';
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

const allowed = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre'],
    ...['strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'target', 'rel', 'class'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Only the language of code may be a class of a message. */
DOMPurify.addHook('uponSanitizeAttribute', (node, data) => {
  if (data.attrName !== 'class') return;
  const isOurs = node.tagName === 'CODE' ? languageClass.test(data.attrValue) : node.tagName === 'SPAN';
  if (!isOurs) data.keepAttr = false;
});

/** Links of other hosts open in a new tab, which learns nothing about this one. */
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const link = node as HTMLAnchorElement;
  if (!link.hasAttribute('href') || link.origin === location.origin) return;
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
});

const maxCached = 1_000;
const cache = new Map<string, string>();

/** Returns the HTML of a message: safe, whatever it contains. */
export function renderMarkdown(text: string): string {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const html = DOMPurify.sanitize(marked.parse(text, { async: false }), allowed);
  if (cache.size >= maxCached) cache.delete(cache.keys().next().value ?? '');
  cache.set(text, html);
  return html;
}

const onlyEmoji = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s){1,12}$/u;

/** Returns whether a message is nothing but a few emoji. */
export const isEmoji = (text: string): boolean => onlyEmoji.test(text) && /\p{Extended_Pictographic}/u.test(text);
