import { names } from '@parley-chat/sdk/names.ts';
import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';
import { anchorOf, guidePath, guides } from './guides.ts';

const marked = new Marked({ gfm: true });

/** The heading that is being rendered gives its words without marks. */
const plain = (tokens: Tokens.Heading['tokens']): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? token.text : ''))
    .join('');

marked.use({
  renderer: {
    heading({ tokens, depth }) {
      return `<h${depth} id="${anchorOf(plain(tokens))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    // Pictures are not served. Their words say what they show.
    image: ({ text }) => text,
    link({ href, tokens }) {
      const target = pathOf(href);
      const words = this.parser.parseInline(tokens);
      return target === undefined ? words : `<a href="${target.replaceAll('"', '%22')}">${words}</a>`;
    },
  },
});

const operations = Object.values(names).flatMap((methods): readonly string[] => Object.values(methods));

/** Returns where a link of a guide leads here, or undefined for what only the repository has. */
export function pathOf(href: string): string | undefined {
  if (/^(?:https?:|mailto:|#|\/)/.test(href)) return href;
  const [, file = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const name = /^(?:\.\.\/|\.\/|reference\/)*([a-z-]+)\.md$/.exec(file)?.[1];
  if (name === 'api') {
    const operation = operations.find((one) => `#${anchorOf(one)}` === anchor);
    return operation === undefined ? '/docs' : `/docs/${operation}`;
  }
  return guides.some((guide) => guide.name === name) ? `${guidePath(name ?? '')}${anchor}` : undefined;
}

const allowed = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre'],
    ...['strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['class', 'href', 'id', 'start', 'tabindex', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|\/)/i,
  // Its value is no URL.
  ADD_URI_SAFE_ATTR: ['tabindex'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Returns the HTML of a text of ours: a guide, or the description of an operation. Unlike in messages, a line break is a space. */
export const renderDocs = (text: string): string =>
  // A table that is wider than the screen scrolls by itself, with the keyboard too.
  DOMPurify.sanitize(marked.parse(text, { async: false }).replaceAll('<table>', '<table tabindex="0">'), allowed);
