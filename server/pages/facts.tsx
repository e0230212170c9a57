/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';

interface FactsProps {
  /** Values by label. Undefined ones are left out. */
  readonly facts: Readonly<Record<string, Child | undefined>>;
  /** In one line of small print. */
  readonly small?: boolean;
}

/** A list of labels and values. */
export function Facts({ facts, small }: FactsProps) {
  const shown = Object.entries(facts).filter(([, fact]) => fact !== undefined);
  return (
    <dl class={small ? 'facts' : undefined}>
      {shown.map(([label, fact]) =>
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
