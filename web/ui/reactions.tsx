/** @jsxImportSource preact */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { hasKeyboard } from './keyboard.ts';
import { later } from './later.tsx';
import { useLongPress } from './use-long-press.ts';
import { useReact } from './use-react.ts';
import './reactions.css';

const ReactorsTip = later(
  async () => (await import('./parts.ts')).ReactorsTip,
  () => null,
);

/** A reaction whose people are asked for. */
interface Asked {
  readonly emoji: string;
  readonly anchor: Element;
}

/** The reactions to a message. The pointer, the focus or a long press shows who reacted. */
export function Reactions({ message }: { message: MessageRecord }) {
  const react = useReact();
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const ask = useCallback((target: EventTarget | null) => {
    const anchor = (target as Element).closest<HTMLElement>('[data-emoji]');
    setAsked(anchor ? { emoji: anchor.dataset.emoji ?? '', anchor } : undefined);
  }, []);
  useHiding(asked, () => setAsked(undefined));
  const press = useLongPress('[data-emoji]', ask);
  const tipId = `reactors-${message.message_id}`;
  return (
    <>
      <ul
        class="reactions"
        aria-label={text.reactions.label}
        onPointerOver={({ target, pointerType }) => pointerType === 'mouse' && ask(target)}
        onFocusIn={({ target }) => (target as Element).matches(':focus-visible') && ask(target)}
        {...(hasKeyboard() ? {} : press)}
      >
        {message.reactions.map(({ emoji, count, reacted }) => (
          <li key={emoji}>
            <button
              type="button"
              data-emoji={emoji}
              aria-pressed={reacted}
              aria-label={text.reactions.count({ emoji, count })}
              aria-describedby={asked?.emoji === emoji ? tipId : undefined}
              onClick={() => react(message, emoji)}
            >
              <span aria-hidden="true">{emoji}</span>
              <span aria-hidden="true">{count}</span>
            </button>
          </li>
        ))}
      </ul>
      {asked && <ReactorsTip id={tipId} message={message} {...asked} />}
    </>
  );
}

/** Hides what is shown about an element once the pointer or the focus is elsewhere, at Escape and at a tap. */
function useHiding(asked: Asked | undefined, hide: () => void): void {
  useEffect(() => {
    if (!asked) return undefined;
    const isElsewhere = ({ target }: Event) => !(target instanceof Node && asked.anchor.contains(target));
    const on = {
      pointerover: (event: Event) => (event as PointerEvent).pointerType === 'mouse' && isElsewhere(event) && hide(),
      focusin: (event: Event) => isElsewhere(event) && hide(),
      keydown: (event: Event) => (event as KeyboardEvent).key === 'Escape' && hide(),
      pointerdown: hide,
      scroll: hide,
    };
    for (const [name, listener] of Object.entries(on)) addEventListener(name, listener, true);
    return () => {
      for (const [name, listener] of Object.entries(on)) removeEventListener(name, listener, true);
    };
  }, [asked]);
}
