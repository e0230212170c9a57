/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';

interface FactsProps {
  /** What each is called, and what it is; nothing is said of one that is undefined. */
  readonly facts: Readonly<Record<string, Child | undefined>>;
  /** Beside each other in small print, and not below each other. */
  readonly small?: boolean;
}

/** What is known about something. */
export function Facts({ facts, small }: FactsProps) {
  const told = Object.entries(facts).filter(([, fact]) => fact !== undefined);
  return (
    <dl class={small ? 'facts' : undefined}>
      {told.map(([label, fact]) =>
        small ? (
          <div>
            <dt>{label}</dt>
            <dd>{fact}</dd>
          </div>
        ) : (
          <>
            <dt>{label}</dt>
            <dd>{fact}</dd>
          </>
        ),
      )}
    </dl>
  );
}
