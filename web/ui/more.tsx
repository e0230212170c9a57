/** @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Problem, useAttempts } from './problem.tsx';

/** Rows are loaded before the reader gets to them. */
const loadAhead = '800px';

interface MoreProps {
  /** The words for its failure. */
  readonly failed: string;
  readonly onMore: () => Promise<void>;
  /** False if only a click loads more. */
  readonly isEager?: boolean;
}

/** The end of a list that has more rows. It loads them at a click, or when it comes near the screen. */
export function More({ failed, onMore, isEager = true }: MoreProps) {
  const button = useRef<HTMLButtonElement>(null);
  const { problem, run } = useAttempts(failed);
  const load = () => run(onMore);
  useEffect(() => {
    if (!isEager) return undefined;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      root: button.current?.closest('.pane') ?? null,
      rootMargin: loadAhead,
    });
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <>
      <Problem words={problem} />
      <button type="button" class="button quiet" ref={button} onClick={load}>
        {problem === '' ? text.common.showMore : text.common.tryAgain}
      </button>
    </>
  );
}
