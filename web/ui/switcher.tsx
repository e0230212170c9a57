/** @jsxImportSource preact */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatRecord, UserRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { placeAfter } from './arrow-keys.ts';
import { Avatar } from './avatar.tsx';
import { ChatAvatar } from './chat-list.tsx';
import { chatName, useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { useAct } from './notice.tsx';
import { Problem } from './problem.tsx';
import { chatPath, navigate } from './route.ts';
import { usePeopleSearch } from './use-people-search.ts';

const maxShown = 12;

/** Returns the chats whose name contains the words, those that begin with them first. */
function findChats(chats: readonly ChatRecord[], query: string): ChatRecord[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const nameOf = (chat: ChatRecord) => `${chatName(chat)} ${chat.peer?.name ?? ''}`.toLowerCase();
  const found = chats.filter((chat) => words.every((word) => nameOf(chat).includes(word)));
  const starts = (chat: ChatRecord) => Number(words[0] !== undefined && nameOf(chat).startsWith(words[0]));
  return found.sort((a, b) => starts(b) - starts(a)).slice(0, maxShown);
}

/** Somewhere to go. */
interface Place {
  readonly id: string;
  readonly avatar: VNode;
  readonly name: string;
  readonly note: string;
  readonly open: () => void;
}

/** Goes to a chat by its name, or to a person. */
export function Switcher({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const { places, isDone, problem, again } = usePlaces(query, onClose);
  const chosenAt = Math.min(at, places.length - 1);
  const chosen = places[chosenAt];
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, chosenAt, places.length);
    if (next !== undefined) setAt(next);
    else if (event.key === 'Enter' && !event.isComposing) chosen?.open();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={text.common.goToChat} onClose={onClose}>
      <div class="field">
        <input
          type="text"
          role="combobox"
          autofocus
          aria-label={text.switcher.label}
          aria-expanded="true"
          aria-controls="switcher-list"
          aria-activedescendant={chosen?.id}
          autocomplete="off"
          placeholder={text.switcher.placeholder}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Problem words={places.length === 0 ? problem : ''} onRetry={again} />
      <div class="person-list" id="switcher-list" role="listbox" aria-label={text.switcher.chats}>
        {places.map((place) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={place.id}
            id={place.id}
            class="person"
            role="option"
            aria-selected={place === chosen}
            onClick={place.open}
          >
            {place.avatar}
            <bdi class="who">{place.name}</bdi>
            {place.note !== '' && <span class="note">{place.note}</span>}
          </div>
        ))}
      </div>
      <p class="nobody" role="status">
        {places.length === 0 && isDone && text.switcher.none}
      </p>
    </Dialog>
  );
}

/** Returns the chats with such a name, those in the archive last, then the people without a direct chat. */
function usePlaces(query: string, onClose: () => void) {
  const { store, client, loader } = useSession();
  const act = useAct();
  const search = usePeopleSearch(query);
  const go = (chatId: number) => {
    onClose();
    navigate(chatPath(chatId));
  };
  const ofChat = (chat: ChatRecord): Place => ({
    id: `switch-${chat.chat_id}`,
    avatar: <ChatAvatar chat={chat} />,
    name: chatName(chat),
    note: chat.archived ? text.switcher.archived : chat.unread_count > 0 ? text.switcher.unread(chat.unread_count) : '',
    open: () => go(chat.chat_id),
  });
  const ofPerson = (user: UserRecord): Place => ({
    id: `switch-user-${user.user_id}`,
    avatar: <Avatar id={user.user_id} name={user.display_name} />,
    name: user.display_name,
    note: `@${user.name}`,
    open: () =>
      act(text.switcher.failed, async () => {
        const { chat } = await client.chats.createDirect({ user_id: user.user_id });
        go(loader.putChat(chat).chat_id);
      }),
  });
  const isAsking = query.trim() !== '';
  // Without words these are the chats that the user was last in.
  const chats = [
    ...findChats(store.byActivity.value, query),
    ...(isAsking ? findChats(store.archived.value, query) : []),
  ];
  const peers = new Set([...store.chats.value.values()].map(({ peer }) => peer?.user_id));
  const people = search.found?.filter(({ user_id }) => !peers.has(user_id)) ?? [];
  return {
    places: [...chats.map(ofChat), ...people.map(ofPerson)].slice(0, maxShown),
    isDone: isAsking && search.found !== undefined,
    problem: search.problem,
    again: search.again,
  };
}
