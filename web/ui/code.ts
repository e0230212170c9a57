import DOMPurify from 'dompurify';
import './code.css';

/** The class by which the sanitizer lets the language of code pass. */
export const languageClass = /^language-[\w+#.-]{1,30}$/;

const maxCached = 300;
const cache = new Map<string, string>();

/** Colours the code in an element that names its language. The rest of the element stays as it is. */
export function colourCode(element: Element): void {
  const blocks = [...element.querySelectorAll<HTMLElement>('pre > code[class^="language-"]')];
  const plain = blocks.filter((block) => !paint(block, cache.get(keyOf(block))));
  if (plain.length === 0) return;
  // Without a connection the code is readable, only without colours.
  import('./highlight.ts').then(
    ({ highlight }) => {
      for (const block of plain)
        paint(block, remember(keyOf(block), highlight(block.textContent ?? '', languageOf(block))));
    },
    () => {},
  );
}

const languageOf = ({ className }: HTMLElement): string => className.slice('language-'.length).toLowerCase();
const keyOf = (block: HTMLElement): string => `${languageOf(block)} ${block.textContent}`;

function remember(key: string, html: string | undefined): string | undefined {
  if (html === undefined) return undefined;
  // The library escapes code. Should it ever fail, this does not.
  const safe = DOMPurify.sanitize(html, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], ALLOW_DATA_ATTR: false });
  if (cache.size >= maxCached) cache.delete(cache.keys().next().value ?? '');
  cache.set(key, safe);
  return safe;
}

/** Shows the HTML in place of the same text. Returns whether there is any. */
function paint(block: HTMLElement, html: string | undefined): boolean {
  if (html === undefined) return false;
  block.innerHTML = html;
  return true;
}
