/** @jsxImportSource preact */
import { useEffect } from 'preact/hooks';
import { isAway } from '../lib/away.ts';
import { text } from '../text/text.ts';
import { EmptyState } from './empty-state.tsx';

const checkMs = 3_000;

/** Stands in for the client while the server is away and nobody's records are here. Loads the page once the server is back. */
export function Away() {
  useEffect(() => {
    const check = () =>
      // Files may be there before pages are, so it asks for a page.
      fetch('/', { redirect: 'manual', cache: 'no-store' }).then(
        (response) => !isAway(response) && location.reload(),
        () => {},
      );
    const timer = setInterval(check, checkMs);
    addEventListener('online', check);
    return () => {
      clearInterval(timer);
      removeEventListener('online', check);
    };
  }, []);
  return (
    <main class="away">
      <EmptyState
        icon="retry"
        level={1}
        title={text.away.title}
        actions={
          <button type="button" class="button" onClick={() => location.reload()}>
            {text.common.tryAgain}
          </button>
        }
      >
        {text.away.hint}
      </EmptyState>
    </main>
  );
}
