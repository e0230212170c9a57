/** @jsxImportSource preact */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { colourCode } from '../code.ts';
import { navigate } from '../route.ts';
import { renderDocs } from './guide-markdown.ts';

/** A text of the documentation, from Markdown. */
export function Prose({ text }: { readonly text: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (ref.current) colourCode(ref.current);
  }, [text]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links in it are what is pressed
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click
    <div
      ref={ref}
      class="markdown prose"
      onClick={followAnchor}
      dangerouslySetInnerHTML={{ __html: renderDocs(text) }}
    />
  );
}

/** A line of the documentation, in which only code has marks. */
export const Line = ({ text }: { readonly text: string }) => (
  <>{text.split('`').map((part, place) => (place % 2 === 1 ? <code>{part}</code> : part))}</>
);

/** Goes to a place on a page of the documentation. The router knows pages only. */
export function goTo(path: string): void {
  const { pathname, hash } = new URL(path, location.origin);
  if (pathname === location.pathname) history.pushState(null, '', path);
  else {
    navigate(pathname);
    history.replaceState(null, '', path);
  }
  // The page may be another one, which is shown first.
  requestAnimationFrame(() => scrollToAnchor(hash));
}

/** Shows the heading that the end of the URL names, or the top. */
export function scrollToAnchor(hash: string): void {
  const heading = hash === '' ? null : document.getElementById(decoded(hash.slice(1)));
  if (heading) heading.scrollIntoView();
  else document.querySelector('.docs')?.scrollTo(0, 0);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Somebody has typed it.
    return text;
  }
}

function followAnchor(event: MouseEvent): void {
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const link = (event.target as Element).closest('a');
  if (!isPlain || !link?.hash || link.origin !== location.origin) return;
  event.preventDefault();
  goTo(`${link.pathname}${link.hash}`);
}
