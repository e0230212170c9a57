/** @jsxImportSource preact */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { docsText } from '../../text/docs/text.ts';
import { useSession } from '../context.ts';
import { isWindowOpen } from '../dialogs.ts';
import { EmptyState } from '../empty-state.tsx';
import { Icon } from '../icon.tsx';
import { usePageTitle } from '../page-title.ts';
import { Problem, useLoading } from '../problem.tsx';
import type { DocsRoute } from '../route.ts';
import { type ApiDocument, loadDocument, type Operation, operationsOf } from './api-document.ts';
import { DocsHome } from './docs-home.tsx';
import { GuidePage } from './guide-page.tsx';
import { type Guide, guidePath, guides } from './guides.ts';
import { OperationPage } from './operation-page.tsx';
import { scrollToAnchor } from './prose.tsx';
import { type SearchIndex, searchIndex } from './search.ts';
import { SearchBox } from './search-box.tsx';

const words = docsText.navigation;

/** The frame of the documentation: its navigation with the search, and one page. */
export function DocsView({ route: { page } }: { route: DocsRoute }) {
  const { store } = useSession();
  const [document, setDocument] = useState<ApiDocument | undefined>(undefined);
  const { problem, again } = useLoading(
    docsText.failed,
    useCallback(async () => setDocument(await loadDocument()), []),
  );
  const operations = useMemo(() => (document ? operationsOf(document) : []), [document]);
  const index = useMemo(() => {
    // Most readers do not search: it is built with the first key.
    let built: SearchIndex | undefined;
    return () => {
      built ??= searchIndex(operations, guides);
      return built;
    };
  }, [operations]);
  const field = useSearchKey();
  useEffect(() => {
    if (location.hash === '') scrollToAnchor('');
  }, [page]);
  const guide = guides.find(({ name }) => `guides/${name}` === page);
  const operation = operations.find(({ name }) => name === page);
  usePageTitle(guide?.title ?? operation?.name ?? words.home);
  const isMissing = page !== '' && !guide && !operation && document;
  return (
    <>
      <header class="console-side docs-side">
        <div class="line">
          <a class="to-chats" href="/">
            <Icon name="back" />
            {words.chats}
          </a>
          <a class="to-home" href="/docs">
            {words.home}
          </a>
          <a href="/console/webhooks">{words.console}</a>
        </div>
        <SearchBox index={index} field={field} />
        <Navigation page={page} operations={operations} />
        <p role="status" class="muted">
          {store.connection.value === 'lost' && docsText.lost}
        </p>
      </header>
      <main class="console docs">
        <Problem words={problem} onRetry={again} />
        {guide && <GuidePage key={guide.name} guide={guide} />}
        {operation && document && <OperationPage key={operation.name} document={document} operation={operation} />}
        {page === '' && document && <DocsHome document={document} operations={operations} />}
        {isMissing && (
          <EmptyState icon="search" level={1} title={docsText.missing} actions={<a href="/docs">{words.home}</a>}>
            {docsText.missingHint}
          </EmptyState>
        )}
      </main>
    </>
  );
}

/** Returns a reference for the search field, which the key / leads to. */
function useSearchKey() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isField =
        event.target instanceof HTMLElement && event.target.matches('input:not([type="radio"]), textarea, select');
      if (event.key !== docsText.search.key || isField || event.ctrlKey || event.metaKey || isWindowOpen()) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  return field;
}

interface NavigationProps {
  readonly page: string;
  readonly operations: readonly Operation[];
}

function Navigation({ page, operations }: NavigationProps) {
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    navigation.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [page, operations]);
  const resources = [...new Set(operations.map(({ resource }) => resource))];
  const link = (href: string, label: string) => (
    <li key={href}>
      <a href={href} aria-current={href === `/docs${page && `/${page}`}` ? 'page' : undefined}>
        {label}
      </a>
    </li>
  );
  const home = link('/docs', words.home);
  const ofResource = (resource: string) =>
    operations
      .filter((operation) => operation.resource === resource)
      .map(({ name, action }) => link(`/docs/${name}`, action));
  const isGroupOf = (kind: Guide['kind']) =>
    guides.some((guide) => guide.kind === kind && page === `guides/${guide.name}`) ||
    (kind === 'guides' && page === '');
  const ofGuides = (kind: Guide['kind']) =>
    guides.filter((guide) => guide.kind === kind).map(({ name, title }) => link(guidePath(name), title));
  return (
    <nav ref={navigation} aria-label={words.label}>
      <ul>{home}</ul>
      {(['guides', 'tables'] as const).map((kind) => (
        <Group key={kind} label={words[kind]} isOpen={isGroupOf(kind)}>
          {ofGuides(kind)}
        </Group>
      ))}
      {resources.map((resource) => (
        <Group key={resource} label={resource} isOpen={page.startsWith(`${resource}.`)}>
          {ofResource(resource)}
        </Group>
      ))}
    </nav>
  );
}

interface GroupProps {
  readonly label: string;
  /** Whether the page is one of the group. */
  readonly isOpen: boolean;
  readonly children: preact.ComponentChildren;
}

function Group({ label, isOpen, children }: GroupProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  // What the reader has opened stays open.
  useEffect(() => {
    if (isOpen && ref.current) ref.current.open = true;
  }, [isOpen]);
  return (
    <details ref={ref}>
      <summary>{label}</summary>
      <ul>{children}</ul>
    </details>
  );
}
