/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { EmptyState } from '../empty-state.tsx';
import { Icon } from '../icon.tsx';
import { type Attempts, Problem } from '../problem.tsx';

interface PageHeadProps {
  readonly words: { readonly title: string; readonly about: string };
  /** What can be done on the page. */
  readonly children?: ComponentChildren;
}

/** The title of a page, and what it is for. */
export const PageHead = ({ words: { title, about }, children }: PageHeadProps) => (
  <header class="page-head">
    <div>
      <h1>{title}</h1>
      <p class="muted">{about}</p>
    </div>
    {children}
  </header>
);

interface ListPageProps {
  readonly words: PageHeadProps['words'] & {
    readonly create: string;
    readonly empty: string;
    readonly emptyHint: string;
  };
  /** Undefined until they are loaded. */
  readonly count: number | undefined;
  readonly loading: Pick<Attempts, 'problem' | 'again'>;
  readonly onCreate: () => void;
  /** The list, and dialogs. */
  readonly children: ComponentChildren;
}

/** A page of things that the user makes. Without any, it says what they are good for. */
export function ListPage({ words, count, loading, onCreate, children }: ListPageProps) {
  const create = (
    <button type="button" class="button" onClick={onCreate}>
      <Icon name="plus" />
      {words.create}
    </button>
  );
  return (
    <div class="page">
      <PageHead words={words}>{count !== undefined && count > 0 && create}</PageHead>
      <Problem words={loading.problem} onRetry={loading.again} />
      {count === 0 && (
        <EmptyState icon="link" title={words.empty} actions={create}>
          {words.emptyHint}
        </EmptyState>
      )}
      {children}
    </div>
  );
}

interface BackLinkProps {
  readonly href: string;
  readonly words: string;
}

/** Leads from one thing to all of its kind. */
export const BackLink = ({ href, words }: BackLinkProps) => (
  <a class="to-all" href={href}>
    <Icon name="back" />
    {words}
  </a>
);

interface MissingPageProps {
  readonly words: { readonly missing: string; readonly missingHint: string; readonly all: string };
  /** The path of all of its kind. */
  readonly href: string;
}

/** For the id of something that is not there. */
export const MissingPage = ({ words, href }: MissingPageProps) => (
  <div class="page">
    <EmptyState icon="link" level={1} title={words.missing} actions={<BackLink href={href} words={words.all} />}>
      {words.missingHint}
    </EmptyState>
  </div>
);
