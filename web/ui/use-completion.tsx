/** @jsxImportSource preact */
import { effect, type ReadonlySignal } from '@preact/signals';
import type { RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import { placeAfter } from './arrow-keys.ts';
import { Avatar } from './avatar.tsx';
import { type Offer, offerEmoji, offerPeople, type Query, queryAt } from './completions.ts';
import { useSession } from './context.ts';
import type { Emoji } from './emoji-names.ts';
import './completion.css';

interface Completion {
  /** Returns whether the key was one for the list. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean;
  /** Attributes of the field. */
  readonly field: object;
  readonly list: VNode | undefined;
}

/** Completes `@names` of participants and `:names` of emoji before the caret of a field. */
export function useCompletion(
  field: RefObject<HTMLTextAreaElement | null>,
  chat: ChatHead,
  written: ReadonlySignal<string>,
  onChange: (written: string) => void,
): Completion {
  const [query, setQuery] = useState<Query | undefined>(undefined);
  const [closedAt, setClosedAt] = useState(-1);
  const [at, setAt] = useState(0);
  // At once, and not with the next frame: the next key may choose from the list. The field may still show the text before.
  useLayoutEffect(
    () =>
      effect(() => {
        const now = written.value;
        const area = field.current;
        const isHere = area !== null && area === document.activeElement;
        setQuery(isHere ? queryAt(now, Math.min(area.selectionStart, now.length)) : undefined);
        setAt(0);
      }),
    [written, field],
  );
  const found = useOffers(chat, query);
  const offers = query && query.from !== closedAt ? found : [];
  const chosen = offers[Math.min(at, offers.length - 1)];
  const id = `completion-${chat.chat_id}`;

  const close = () => setClosedAt(query?.from ?? -1);
  const choose = (offer: Offer) => {
    const area = field.current;
    if (!area || !query) return;
    area.focus();
    area.setRangeText(offer.insert, query.from, area.selectionStart, 'end');
    setQuery(undefined);
    onChange(area.value);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!chosen) return false;
    const next = placeAfter(event.key, offers.indexOf(chosen), offers.length);
    if (next !== undefined) setAt(next);
    else if (event.key === 'Enter' || event.key === 'Tab') choose(chosen);
    else if (event.key === 'Escape') close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    onKeyDown,
    field: {
      'aria-autocomplete': 'list',
      ...(chosen && { 'aria-controls': id, 'aria-activedescendant': `${id}-${chosen.key}` }),
      onBlur: () => setQuery(undefined),
    },
    list:
      offers.length === 0 ? undefined : (
        <div
          class="completion"
          role="listbox"
          id={id}
          aria-label={query?.kind === 'emoji' ? text.completion.emoji : text.completion.people}
        >
          {offers.map((offer) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
            <div
              key={offer.key}
              id={`${id}-${offer.key}`}
              role="option"
              aria-selected={offer === chosen}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(offer)}
            >
              {offer.userId !== undefined && <Avatar id={offer.userId} name={offer.label} isSmall />}
              {offer.emoji !== undefined && <span class="emoji">{offer.emoji}</span>}
              {offer.key === 'all' && <Avatar id={chat.chat_id} name="" icon="people" isSmall />}
              <bdi>{offer.label}</bdi>
              {offer.note !== '' && <span class="note">{offer.note}</span>}
            </div>
          ))}
        </div>
      ),
  };
}

/** Loads what the word may mean when it is first needed. */
function useOffers(chat: ChatHead, query: Query | undefined): Offer[] {
  const { store, loader, report } = useSession();
  const [emojis, setEmojis] = useState<readonly Emoji[]>([]);
  const people = store.participants.value.get(chat.chat_id);
  const needsPeople = query?.kind === 'mention' && !people;
  useEffect(() => {
    if (needsPeople) loader.loadParticipants(chat.chat_id).catch(report);
  }, [needsPeople, chat.chat_id, loader, report]);
  const needsEmoji = query?.kind === 'emoji' && emojis.length === 0;
  useEffect(() => {
    if (needsEmoji) import('./emoji-names.ts').then((chunk) => setEmojis(chunk.emojis), report);
  }, [needsEmoji, report]);
  if (!query) return [];
  if (query.kind === 'emoji') return offerEmoji(emojis, query.word);
  const others = people?.filter(({ user_id }) => user_id !== store.me.user_id) ?? [];
  return offerPeople(others, query.word, { withAll: chat.type !== 'direct' });
}
