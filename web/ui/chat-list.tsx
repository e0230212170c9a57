/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import { Virtualizer } from 'virtua';
import { type ChatRecord, isMuted } from '../store/records.ts';
import { Avatar } from './avatar.tsx';
import { ChatMenu } from './chat-menu.tsx';
import { chatName, useSession } from './context.ts';
import { Icon, type IconName } from './icon.tsx';
import { plainText } from './markdown.ts';
import { chatPath, route } from './route.ts';
import { shortTime } from './time.ts';
import { TypingText } from './typing.tsx';
import './chat-list.css';

const icons: Readonly<Partial<Record<ChatRecord['type'], IconName>>> = { group: 'group', channel: 'channel' };

export function ChatAvatar({ chat, isSmall }: { chat: ChatRecord; isSmall?: boolean }) {
  const icon = icons[chat.type];
  const id = chat.peer?.user_id ?? chat.chat_id;
  const presence = useSession().store.presence.value.get(chat.peer?.user_id ?? 0);
  return (
    <Avatar id={id} name={chatName(chat)} {...(icon && { icon })} isSmall={isSmall ?? false}>
      {(presence === 'online' || presence === 'away') && <span class={`presence ${presence}`} />}
    </Avatar>
  );
}

type Entry =
  | { readonly kind: 'chat'; readonly chat: ChatRecord }
  | { readonly kind: 'archive'; readonly count: number; readonly unread: number };

/** The chats of the user: those that are pinned, then the others, the most recent first, then the archive. */
export function ChatList() {
  const { store } = useSession();
  const scroller = useRef<HTMLElement>(null);
  const [isArchiveOpen, setArchiveOpen] = useState(false);
  const openId = useComputed(() => (route.value.name === 'chat' ? route.value.chatId : undefined)).value;
  const chats = store.byActivity.value;
  const archived = store.archived.value;
  const unread = archived.filter(({ unread_count }) => unread_count > 0).length;
  const entries: Entry[] = [
    ...chats.map((chat) => ({ kind: 'chat', chat }) as const),
    ...(archived.length > 0 ? [{ kind: 'archive', count: archived.length, unread } as const] : []),
    ...(isArchiveOpen ? archived.map((chat) => ({ kind: 'chat', chat }) as const) : []),
  ];
  return (
    <nav class="chat-list" aria-label="Chats" ref={scroller}>
      {entries.length === 0 && store.isReady.value && (
        <p class="empty">No chats yet. Start one, or browse the channels that everyone can join.</p>
      )}
      <Virtualizer as="ul" item="li" scrollRef={scroller} data={entries} itemSize={60}>
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
              Archived
              <span class="note">{entry.unread > 0 ? `${entry.count}, ${entry.unread} unread` : entry.count}</span>
            </button>
          )
        }
      </Virtualizer>
    </nav>
  );
}

function ChatEntry({ chat, isOpen }: { chat: ChatRecord; isOpen: boolean }) {
  const { chat_id, unread_count, mention_count, last_message, pinned } = chat;
  const unread = isOpen ? 0 : unread_count;
  const muted = isMuted(chat);
  const presence = useSession().store.presence.value.get(chat.peer?.user_id ?? 0);
  return (
    <div class={`entry${unread > 0 ? ' unread' : ''}${muted ? ' muted' : ''}`}>
      <a href={chatPath(chat_id)} aria-current={isOpen ? 'page' : undefined}>
        <ChatAvatar chat={chat} />
        <span class="top">
          <bdi class="name">{chatName(chat)}</bdi>
          {presence !== undefined && presence !== 'offline' && <span class="unseen">, {presence}, </span>}
          {muted && <Mark icon="muted" label="muted" />}
          {pinned && <Mark icon="pin" label="pinned" />}
          {last_message && <time dateTime={last_message.created_at}>{shortTime(last_message.created_at)}</time>}
        </span>
        <span class="bottom">
          <Preview chat={chat} />
          {unread > 0 && mention_count > 0 && (
            <span class="count mention">
              @<span class="unseen">{mention_count === 1 ? '1 mention' : `${mention_count} mentions`}, </span>
            </span>
          )}
          {unread > 0 && (
            <span class="count">
              {unread >= 100 ? '99+' : unread}
              <span class="unseen"> unread</span>
            </span>
          )}
        </span>
      </a>
      <ChatMenu chat={chat} label={`Options of ${chatName(chat)}`} />
    </div>
  );
}

function Mark({ icon, label }: { icon: IconName; label: string }) {
  return (
    <span class="mark" title={label}>
      <Icon name={icon} />
      <span class="unseen">, {label}, </span>
    </span>
  );
}

function Preview({ chat }: { chat: ChatRecord }) {
  const { store, drafts } = useSession();
  const draft = drafts.texts.value.get(chat.chat_id);
  if (draft) {
    return (
      <span class="preview">
        <em>Draft:</em> {draft}
      </span>
    );
  }
  if ((store.typing.value.get(chat.chat_id)?.length ?? 0) > 0) {
    return (
      <span class="preview">
        <TypingText chat={chat} isShort />
      </span>
    );
  }
  const { last_message, type, description } = chat;
  if (!last_message) return <span class="preview">{description}</span>;
  const { user_id, content, file } = last_message;
  const author =
    user_id === store.me.user_id ? 'You' : type === 'direct' ? undefined : store.user(user_id)?.display_name;
  return (
    <span class="preview">
      {author !== undefined && <bdi>{author}: </bdi>}
      {plainText(content) || (file === null ? 'Message deleted' : file)}
    </span>
  );
}
