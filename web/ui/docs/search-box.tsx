/** @jsxImportSource preact */
import type { Ref } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { docsText } from '../../text/docs/text.ts';
import { placeAfter } from '../arrow-keys.ts';
import { Icon } from '../icon.tsx';
import { excerptOf, marksIn, type Part } from '../marks.ts';
import { goTo } from './prose.tsx';
import { type Entry, find, type SearchIndex } from './search.ts';

const words = docsText.search;

interface SearchBoxProps {
  readonly index: () => SearchIndex;
  readonly field: Ref<HTMLInputElement>;
}

/** Finds operations and parts of guides as somebody types. */
export function SearchBox({ index, field }: SearchBoxProps) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const isOpen = query.trim() !== '';
  const found = useMemo(() => (isOpen ? find(index(), query) : []), [index, query]);
  const open = (entry: Entry) => {
    setQuery('');
    goTo(entry.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, at, found.length);
    const chosen = found[at];
    if (next !== undefined) {
      setAt(next);
      document.getElementById(`found-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.isComposing && chosen) open(chosen);
    else if (event.key === 'Escape' && query !== '') setQuery('');
    else return;
    event.preventDefault();
  };
  return (
    <search class={`docs-search${isOpen ? ' is-open' : ''}`}>
      <div class="box">
        <Icon name="search" />
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label={words.label}
          aria-expanded={isOpen}
          aria-controls="docs-found"
          aria-activedescendant={isOpen && found.length > 0 ? `found-${at}` : undefined}
          aria-keyshortcuts={words.key}
          autocomplete="off"
          placeholder={words.placeholder}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>{words.key}</kbd>
      </div>
      <div
        class="found"
        id="docs-found"
        role="listbox"
        aria-label={words.results}
        hidden={!isOpen || found.length === 0}
      >
        {found.map((entry, place) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={entry.path}
            id={`found-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => open(entry)}
          >
            <strong>
              <Marked parts={marksIn(entry.title, query)} />
            </strong>
            {entry.guide !== undefined && <span class="muted">{words.guide(entry.guide)}</span>}
            <span class="excerpt muted">
              <Marked parts={excerptOf(entry.text, query)} />
            </span>
          </div>
        ))}
      </div>
      <p role="status" class="muted">
        {isOpen && found.length === 0 && words.none(query)}
      </p>
    </search>
  );
}

const Marked = ({ parts }: { readonly parts: readonly Part[] }) => (
  <>{parts.map(({ text, isHit }) => (isHit ? <mark>{text}</mark> : text))}</>
);
