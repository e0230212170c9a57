/** @jsxImportSource preact */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import { ChatAvatar } from './chat-list.tsx';
import { ChatMenu } from './chat-menu.tsx';
import { ChatState } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { chatName, useSession } from './context.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { Icon, IconButton } from './icon.tsx';
import { JumpToDate } from './jump-to-date.tsx';
import { Lightbox } from './lightbox.tsx';
import { MessageList } from './message-list.tsx';
import { NewMessages } from './new-messages.tsx';
import { PeopleDialog } from './people-dialog.tsx';
import { Pins } from './pins.tsx';
import { ThreadPane } from './thread-pane.tsx';
import { TypingLine } from './typing.tsx';
import { useChatKeys } from './use-chat-keys.ts';
import './chat-view.css';

interface ChatViewProps {
  readonly chatId: number;
  /** The message to show. */
  readonly messageId: number | undefined;
  /** The first message of the thread to show beside the chat. */
  readonly threadId: number | undefined;
}

/** The open chat. */
export function ChatView({ chatId, messageId, threadId }: ChatViewProps) {
  const { store, timelines, openChat, loader, report } = useSession();
  const state = useMemo(() => new ChatState(chatId, store), [chatId, store]);
  const chat = store.chat(chatId);
  const timeline = store.timeline(chatId).value;
  const [isMissing, setMissing] = useState(false);

  useEffect(() => {
    setMissing(false);
    if (messageId === undefined) openChat(chatId).catch(report);
  }, [chatId, messageId, openChat, report]);
  useEffect(() => {
    if (messageId === undefined) return;
    state.target.value = undefined;
    timelines
      .around(chatId, messageId)
      .then(() => {
        state.target.value = messageId;
      })
      .catch(report);
  }, [chatId, messageId, state, timelines, report]);
  const isUnknown = !chat && store.isReady.value;
  useEffect(() => {
    if (!isUnknown) return;
    loader.loadChat(chatId).then((found) => setMissing(!found), report);
  }, [isUnknown, chatId, loader, report]);

  useMarkRead(state);
  useChatKeys(state);
  if (!chat) return <section class="chat-view">{isMissing && <Missing />}</section>;
  return (
    <div class={`chat-and-thread${threadId === undefined ? '' : ' has-thread'}`}>
      <section class="chat-view" aria-label={chatName(chat)}>
        <ChatHeader chat={chat} />
        {timeline ? <MessageList key={chatId} state={state} timeline={timeline} /> : <div class="message-pane" />}
        <NewMessages chatId={chatId} />
        <TypingLine chat={chat} />
        <Composer key={`composer ${chatId}`} chat={chat} state={state} />
        {state.viewing.value !== undefined && <Lightbox state={state} />}
        {state.deleting.value && (
          <DeleteDialog
            message={state.deleting.value}
            onClose={() => {
              state.deleting.value = undefined;
            }}
          />
        )}
        <p class="notice" role="status">
          {state.notice.value}
        </p>
      </section>
      {threadId !== undefined && (
        <ThreadPane key={threadId} chat={chat} rootId={threadId} onClose={() => state.focusComposer.value++} />
      )}
    </div>
  );
}

function ChatHeader({ chat }: { chat: ChatRecord }) {
  const [isPeopleOpen, setPeopleOpen] = useState(false);
  const { type, description, participant_count } = chat;
  return (
    <header class="chat-header">
      <a class="icon-button back" href="/" aria-label="All chats">
        <Icon name="back" />
      </a>
      <ChatAvatar chat={chat} />
      <div class="title">
        <h1>
          <bdi>{chatName(chat)}</bdi>
        </h1>
        <p>{type === 'direct' ? <PeerLine chat={chat} /> : description || countOf(participant_count)}</p>
      </div>
      <Pins chat={chat} />
      <a
        class="icon-button"
        href={`/search?chat=${chat.chat_id}`}
        aria-label="Search in this chat"
        title="Search in this chat"
      >
        <Icon name="search" />
      </a>
      <JumpToDate chatId={chat.chat_id} />
      {type !== 'direct' && <IconButton icon="people" label="People" onClick={() => setPeopleOpen(true)} />}
      <ChatMenu chat={chat} label="Options of this chat" />
      {isPeopleOpen && <PeopleDialog chat={chat} onClose={() => setPeopleOpen(false)} />}
    </header>
  );
}

/** The other side of a direct chat: its name, what it does, and whether it is there. */
function PeerLine({ chat: { peer } }: { chat: ChatRecord }) {
  const { store } = useSession();
  const presence = store.presence.value.get(peer?.user_id ?? 0);
  const status = peer && store.user(peer.user_id)?.status_text;
  return <>{[`@${peer?.name ?? ''}`, presence, status].filter(Boolean).join(' · ')}</>;
}

const countOf = (count: number): string => (count === 1 ? '1 person' : `${count} people`);

function Missing() {
  return (
    <div class="nothing">
      <h1>This chat is not yours to see</h1>
      <p>It does not exist, or you are not in it.</p>
    </div>
  );
}

/** Marks the chat as read while its newest message is on the screen of somebody who looks. */
function useMarkRead(state: ChatState): void {
  const { client, store, report } = useSession();
  useSignalEffect(() => {
    const { chatId } = state;
    const isSeen = state.reachedEnd.value > 0 && store.isVisible.value;
    const unread = store.chats.value.get(chatId)?.unread_count ?? 0;
    if (!isSeen || unread === 0) return;
    const messageId = store.newestId(chatId);
    const timer = setTimeout(() => {
      client.messages.markRead({ chat_id: chatId, message_id: messageId }).then(({ read }) => {
        store.changeChat(chatId, () => ({ unread_count: read.unread_count, mention_count: 0 }));
      }, report);
    }, 300);
    return () => clearTimeout(timer);
  });
}
