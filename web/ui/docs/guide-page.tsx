/** @jsxImportSource preact */
import { useLayoutEffect } from 'preact/hooks';
import { docsText } from '../../text/docs/text.ts';
import type { Guide } from './guides.ts';
import { Prose, scrollToAnchor } from './prose.tsx';

/** Puts a note below the title. */
const noted = (text: string, note: string): string => text.replace(/^# .*$/m, (title) => `${title}\n\n> ${note}`);

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
      <Prose text={guide.hasCommands ? noted(guide.text, docsText.guide.commands) : guide.text} />
    </article>
  );
}
