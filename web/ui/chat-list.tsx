/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Virtualizer } from 'virtua';
import type { ChatRecord } from '../store/records.ts';
import { Avatar } from './avatar.tsx';
import { chatName, useSession } from './context.ts';
import type { IconName } from './icon.tsx';
import { chatPath, route } from './route.ts';
import { shortTime } from './time.ts';
import './chat-list.css';

const icons: Readonly<Partial<Record<ChatRecord['type'], IconName>>> = { group: 'group', channel: 'channel' };

export function ChatAvatar({ chat, isSmall }: { chat: ChatRecord; isSmall?: boolean }) {
  const icon = icons[chat.type];
  const id = chat.peer?.user_id ?? chat.chat_id;
  return <Avatar id={id} name={chatName(chat)} {...(icon && { icon })} isSmall={isSmall ?? false} />;
}

/** The chats of the user, the most recent first. */
export function ChatList() {
  const { store } = useSession();
  const scroller = useRef<HTMLElement>(null);
  const openId = useComputed(() => (route.value.name === 'chat' ? route.value.chatId : undefined)).value;
  const chats = store.byActivity.value;
  return (
    <nav class="chat-list" aria-label="Chats" ref={scroller}>
      {chats.length === 0 && store.isReady.value && (
        <p class="empty">No chats yet. Start one, or browse the channels that everyone can join.</p>
      )}
      <Virtualizer as="ul" item="li" scrollRef={scroller} data={chats} itemSize={60}>
        {(chat) => <ChatEntry key={chat.chat_id} chat={chat} isOpen={chat.chat_id === openId} />}
      </Virtualizer>
    </nav>
  );
}

function ChatEntry({ chat, isOpen }: { chat: ChatRecord; isOpen: boolean }) {
  const { chat_id, unread_count, mention_count = 0, last_message } = chat;
  const unread = isOpen ? 0 : unread_count;
  return (
    <a
      class={`entry${unread > 0 ? ' unread' : ''}`}
      href={chatPath(chat_id)}
      aria-current={isOpen ? 'page' : undefined}
    >
      <ChatAvatar chat={chat} />
      <span class="top">
        <bdi class="name">{chatName(chat)}</bdi>
        {last_message && <time dateTime={last_message.created_at}>{shortTime(last_message.created_at)}</time>}
      </span>
      <span class="bottom">
        <Preview chat={chat} />
        {unread > 0 && (
          <span class={`count${mention_count > 0 ? ' mention' : ''}`}>
            {mention_count > 0 && '@'}
            {unread >= 100 ? '99+' : unread}
            <span class="unseen"> unread</span>
          </span>
        )}
      </span>
    </a>
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
  const { last_message, type, description } = chat;
  if (!last_message) return <span class="preview">{description}</span>;
  const { user_id, content, file } = last_message;
  const author =
    user_id === store.me.user_id ? 'You' : type === 'direct' ? undefined : store.user(user_id)?.display_name;
  return (
    <span class="preview">
      {author !== undefined && <bdi>{author}: </bdi>}
      {content || (file === null ? 'Message deleted' : file)}
    </span>
  );
}
