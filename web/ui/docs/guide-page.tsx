/** @jsxImportSource preact */
import { useLayoutEffect } from 'preact/hooks';
import type { Guide } from './guides.ts';
import { Prose, scrollToAnchor } from './prose.tsx';

/** One guide. */
export function GuidePage({ guide }: { readonly guide: Guide }) {
  useLayoutEffect(() => {
    const show = () => scrollToAnchor(location.hash);
    show();
    addEventListener('popstate', show);
    return () => removeEventListener('popstate', show);
  }, []);
  return (
    <article class="page guide">
      <Prose text={guide.text} />
    </article>
  );
}
