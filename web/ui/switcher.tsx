/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import { ChatAvatar } from './chat-list.tsx';
import { chatName, useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { chatPath, navigate } from './route.ts';

const maxShown = 12;

/** Returns the chats whose name contains the words, those that begin with them first. */
export function findChats(chats: readonly ChatRecord[], query: string): ChatRecord[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const nameOf = (chat: ChatRecord) => `${chatName(chat)} ${chat.peer?.name ?? ''}`.toLowerCase();
  const found = chats.filter((chat) => words.every((word) => nameOf(chat).includes(word)));
  const starts = (chat: ChatRecord) => Number(words[0] !== undefined && nameOf(chat).startsWith(words[0]));
  return found.sort((a, b) => starts(b) - starts(a)).slice(0, maxShown);
}

/** Goes to a chat by its name. */
export function Switcher({ onClose }: { onClose: () => void }) {
  const { store } = useSession();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const found = findChats(store.byActivity.value, query);
  const chosen = found[Math.min(at, found.length - 1)];
  const open = (chat: ChatRecord) => {
    onClose();
    navigate(chatPath(chat.chat_id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((Math.min(at, found.length - 1) + step + found.length) % Math.max(found.length, 1));
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      if (chosen) open(chosen);
    }
  };
  return (
    <Dialog title="Go to a chat" onClose={onClose}>
      <div class="field">
        <input
          type="text"
          role="combobox"
          autofocus
          aria-label="Name of a chat"
          aria-expanded="true"
          aria-controls="switcher-list"
          aria-activedescendant={chosen ? `switch-${chosen.chat_id}` : undefined}
          autocomplete="off"
          placeholder="Name of a chat or a person"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="person-list" id="switcher-list" role="listbox" aria-label="Chats">
        {found.map((chat) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={chat.chat_id}
            id={`switch-${chat.chat_id}`}
            class="person"
            role="option"
            aria-selected={chat === chosen}
            onClick={() => open(chat)}
          >
            <ChatAvatar chat={chat} />
            <bdi class="who">{chatName(chat)}</bdi>
            {chat.unread_count > 0 && <span class="note">{chat.unread_count} unread</span>}
          </div>
        ))}
      </div>
    </Dialog>
  );
}
