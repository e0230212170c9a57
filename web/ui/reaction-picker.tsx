/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { findEmoji, nameInWords } from './completions.ts';
import { emojis } from './emoji-names.ts';
import { hasKeyboard } from './keyboard.ts';
import { Popover } from './popover.tsx';
import { useReact } from './use-react.ts';

/** Five rows at a desk. The names begin with those that are used most. */
const maxShown = 40;

interface PickerProps {
  readonly message: MessageRecord;
  readonly anchor: Element;
  readonly onClose: () => void;
}

/** Chooses a reaction, also by the name of the emoji. */
export function ReactionPicker({ message, anchor, onClose }: PickerProps) {
  const react = useReact();
  const [query, setQuery] = useState('');
  const found = findEmoji(
    emojis,
    query
      .trim()
      .toLowerCase()
      .replace(/[\s:]+/g, '_'),
  ).slice(0, maxShown);
  const choose = (emoji: string) => {
    react(message, emoji);
    onClose();
  };
  const field = (
    <input
      type="search"
      aria-label={text.reactions.find}
      placeholder={text.reactions.find}
      autocomplete="off"
      value={query}
      onInput={(event) => setQuery(event.currentTarget.value)}
      onKeyDown={(event) => {
        const [first] = found;
        if (event.key === 'Enter' && !event.isComposing && first) choose(first.emoji);
      }}
    />
  );
  return (
    <Popover label={text.reactions.add} anchor={anchor} onClose={onClose}>
      <div class="emoji-picker">
        {/* The first control has the focus, which would open the keyboard of a touch screen. */}
        {hasKeyboard() && field}
        <div class="picker">
          {found.map(({ emoji }) => {
            const name = nameInWords(emojis, emoji);
            return (
              <button key={emoji} type="button" aria-label={name} title={name} onClick={() => choose(emoji)}>
                {emoji}
              </button>
            );
          })}
        </div>
        <p class="nothing-found" role="status">
          {found.length === 0 && text.reactions.none}
        </p>
        {!hasKeyboard() && field}
      </div>
    </Popover>
  );
}
