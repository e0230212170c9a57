/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { memo } from 'preact/compat';
import { useRef, useState } from 'preact/hooks';
import { Virtualizer } from 'virtua';
import { appearance } from '../appearance.ts';
import { type ChatHead, type ChatRecord, isMuted } from '../store/records.ts';
import type { Presence } from '../store/store.ts';
import { text } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { ChatMenu } from './chat-menu.tsx';
import { chatName, useSession } from './context.ts';
import { startChat } from './dialogs.ts';
import { useFirstSteps } from './first-steps.tsx';
import { Icon, type IconName } from './icon.tsx';
import { plainText } from './markdown.ts';
import { isNarrow } from './narrow.ts';
import { chatPath, route } from './route.ts';
import { shortTime } from './time.ts';
import { TypingText } from './typing.tsx';
import { useLongPress } from './use-long-press.ts';
import './chat-list.css';

const icons: Readonly<Partial<Record<ChatRecord['type'], IconName>>> = { group: 'people', channel: 'channel' };

export function ChatAvatar({ chat, isSmall }: { chat: ChatHead; isSmall?: boolean }) {
  const icon = icons[chat.type];
  const id = chat.peer?.user_id ?? chat.chat_id;
  const presence = usePresence(chat);
  return (
    <Avatar id={id} name={chatName(chat)} {...(icon && { icon })} isSmall={isSmall ?? false}>
      {(presence === 'online' || presence === 'away') && <span class={`presence ${presence}`} />}
    </Avatar>
  );
}

/** Returns whether the other side of a direct chat is there. Other chats depend on nobody's presence. */
function usePresence({ peer }: ChatHead): Presence | undefined {
  const { store } = useSession();
  return peer ? store.presence.value.get(peer.user_id) : undefined;
}

type Entry =
  | { readonly kind: 'chat'; readonly chat: ChatRecord }
  | { readonly kind: 'archive'; readonly count: number; readonly unread: number };

/** Before they are measured: `--row` of `tokens.css`. */
const rowHeights = { comfortable: 60, compact: 52 } as const;

/** The chats of the user: those that are pinned, then the others, the most recent first, then the archive, and what follows them. */
export function ChatList({ children }: { children: ComponentChildren }) {
  const { store } = useSession();
  const scroller = useRef<HTMLElement>(null);
  const [isArchiveOpen, setArchiveOpen] = useState(false);
  const openId = useComputed(() => (route.value.name === 'chat' ? route.value.chatId : undefined)).value;
  // One for all rows: each of its listeners would be added to every row that scrolls into view.
  const press = useLongPress(rowLink, openMenu);
  // On a phone, what is open hides the list. It stays as it was, and messages that arrive do not cost its rendering.
  const isHidden = isNarrow.value && route.value.name !== 'home';
  const shown = useRef<VNode | undefined>(undefined);
  if (isHidden && shown.current) return shown.current;
  const chats = store.byActivity.value;
  const archived = store.archived.value;
  const unread = archived.filter(({ unread_count }) => unread_count > 0).length;
  const entries: Entry[] = [
    ...chats.map((chat) => ({ kind: 'chat', chat }) as const),
    ...(archived.length > 0 ? [{ kind: 'archive', count: archived.length, unread } as const] : []),
    ...(isArchiveOpen ? archived.map((chat) => ({ kind: 'chat', chat }) as const) : []),
  ];
  shown.current = (
    // The links in it are reached with the keyboard.
    <nav class="chat-list" aria-label={text.chatList.label} ref={scroller} {...press}>
      {entries.length === 0 && !store.isReady.value && store.connection.value === 'lost' && (
        <p class="empty">{text.chatList.away}</p>
      )}
      {entries.length === 0 && store.isReady.value && <NoChats />}
      <Virtualizer
        as="ul"
        item="li"
        scrollRef={scroller}
        data={entries}
        itemSize={rowHeights[appearance.density.value]}
      >
        {(entry) =>
          entry.kind === 'chat' ? (
            <ChatEntry key={entry.chat.chat_id} chat={entry.chat} isOpen={entry.chat.chat_id === openId} />
          ) : (
            <button
              key="archive"
              type="button"
              class="archive"
              aria-expanded={isArchiveOpen}
              onClick={() => setArchiveOpen(!isArchiveOpen)}
            >
              <Icon name="archive" />
              {text.chatList.archived}
              <span class="note">{text.chatList.archivedCount(entry)}</span>
            </button>
          )
        }
      </Virtualizer>
      {children}
    </nav>
  );
  return shown.current;
}

/** The buttons of somebody who has no chat open. */
export const WaysToChat = () => (
  <>
    <button type="button" class="button" onClick={() => startChat()}>
      {text.common.startChat}
    </button>
    <a class="button quiet" href="/browse">
      {text.common.findChannels}
    </a>
  </>
);

function NoChats() {
  const steps = useFirstSteps();
  // The first steps have such a button too, and so has the view beside the list.
  const hasButtons = isNarrow.value ? !steps : route.value.name !== 'home';
  return (
    <div class="empty">
      <p>{text.chatList.empty}</p>
      {hasButtons && <WaysToChat />}
    </div>
  );
}

const rowLink = '.entry > a';

const openMenu = (link: HTMLElement): void =>
  link.parentElement?.querySelector<HTMLElement>('.chat-menu-button')?.click();

const ChatEntry = memo(function ChatEntry({ chat, isOpen }: { chat: ChatRecord; isOpen: boolean }) {
  const { chat_id, unread_count, mention_count, last_message, pinned } = chat;
  const unread = isOpen ? 0 : unread_count;
  const muted = isMuted(chat);
  const presence = usePresence(chat);
  return (
    <div class={`entry${unread > 0 ? ' unread' : ''}${muted ? ' muted' : ''}`}>
      <a href={chatPath(chat_id)} aria-current={isOpen ? 'page' : undefined} draggable={false}>
        <ChatAvatar chat={chat} />
        <span class="top">
          <bdi class="name">{chatName(chat)}</bdi>
          {presence !== undefined && presence !== 'offline' && (
            <span class="unseen">{text.chatList.aside(text.presence[presence])}</span>
          )}
          {muted && <Mark icon="muted" label={text.chatList.muted} />}
          {pinned && <Mark icon="pin" label={text.chatList.pinned} />}
          {last_message && <time dateTime={last_message.created_at}>{shortTime(last_message.created_at)}</time>}
        </span>
        <span class="bottom">
          <Preview chat={chat} />
          {unread > 0 && mention_count > 0 && (
            <span class="count mention">
              <span aria-hidden="true">{text.chatList.mentionCount(mention_count)}</span>
              <span class="unseen">{text.chatList.mentions(mention_count)}</span>
            </span>
          )}
          {unread > 0 && (
            <span class="count">
              {text.chatList.unreadCount(unread)}
              <span class="unseen">{text.chatList.unread}</span>
            </span>
          )}
        </span>
      </a>
      <ChatMenu chat={chat} label={text.chatList.options(chatName(chat))} />
    </div>
  );
});

function Mark({ icon, label }: { icon: IconName; label: string }) {
  return (
    <span class="mark" title={label}>
      <Icon name={icon} />
      <span class="unseen">{text.chatList.aside(label)}</span>
    </span>
  );
}

function Preview({ chat }: { chat: ChatRecord }) {
  const { store, drafts } = useSession();
  // Each key changes the draft of one chat, and only its text. Each typist changes one row.
  const draft = useComputed(() => drafts.get({ chatId: chat.chat_id }));
  const hasDraft = useComputed(() => draft.value !== '').value;
  const isTyping = useComputed(() => (store.typing.value.get(chat.chat_id)?.length ?? 0) > 0).value;
  if (hasDraft) {
    return (
      <span class="preview">
        <em>{text.chatList.draft}</em> {draft}
      </span>
    );
  }
  if (isTyping) {
    return (
      <span class="preview">
        <TypingText chat={chat} isShort />
      </span>
    );
  }
  const { last_message, type, description } = chat;
  if (!last_message) return <span class="preview">{description || text.chatList.noMessages}</span>;
  const { user_id, content, file } = last_message;
  const author =
    user_id === store.me.user_id
      ? text.chatList.you
      : type === 'direct'
        ? undefined
        : store.user(user_id)?.display_name;
  return (
    <span class="preview">
      {author !== undefined && text.chatList.author(<bdi>{author}</bdi>)}
      {plainText(content) || (file === null ? text.common.deletedMessage : file)}
    </span>
  );
}
