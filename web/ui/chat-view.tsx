/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import type { Absence } from './absent.tsx';
import { ChatAvatar } from './chat-list.tsx';
import { ChatMenu } from './chat-menu.tsx';
import { ChatState } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { chatName, useChat, useSession } from './context.ts';
import { closeDialogOf, openDialog } from './dialogs.ts';
import { Icon, IconButton } from './icon.tsx';
import { later } from './later.tsx';
import type { MenuItem } from './menu.tsx';
import { MessageList } from './message-list.tsx';
import { isNarrow } from './narrow.ts';
import { NewMessages } from './new-messages.tsx';
import { tell } from './notice.tsx';
import { OpenChatDialog } from './open-chat-dialog.tsx';
import { Pins } from './pins.tsx';
import { type Attempts, useAttempts, useLoading } from './problem.tsx';
import { chatPath, navigate } from './route.ts';
import { ThreadPane } from './thread-pane.tsx';
import { TypingLine } from './typing.tsx';
import { useChatKeys } from './use-chat-keys.ts';
import { useMarkSeen } from './use-mark-read.ts';
import './chat-view.css';
// The styles of a part that comes later.
import './empty-chat.css';

const NotLoaded = later(async () => (await import('./parts.ts')).NotLoaded);
const Absent = later(async () => (await import('./parts.ts')).Absent);
const EmptyChat = later(async () => (await import('./parts.ts')).EmptyChat);

interface ChatViewProps {
  readonly chatId: number;
  /** The message to show. */
  readonly messageId: number | undefined;
  /** The first message of the thread to show beside the chat. */
  readonly threadId: number | undefined;
}

/** The open chat. */
export function ChatView({ chatId, messageId, threadId }: ChatViewProps) {
  const { store } = useSession();
  const state = useMemo(() => new ChatState(chatId, store), [chatId, store]);
  const chat = useChat(chatId);
  const loading = useMessages(state, messageId);
  const absence = useAbsence(chatId);
  useMarkSeen(state);
  useChatKeys(state);
  if (!chat) return <section class="chat-view">{absence && <Absent chatId={chatId} absence={absence} />}</section>;
  return (
    <div class={`chat-and-thread${threadId === undefined ? '' : ' has-thread'}`}>
      <section class="chat-view" aria-label={chatName(chat)}>
        <ChatHeader chat={chat} />
        <Messages chat={chat} state={state} loading={loading} />
        <NewMessages chatId={chatId} />
        <TypingLine chat={chat} />
        <Composer key={`composer ${chatId}`} chat={chat} state={state} />
        <OpenChatDialog state={state} />
      </section>
      {threadId !== undefined && (
        <ThreadPane key={threadId} chat={chat} rootId={threadId} onClose={() => state.focusComposer.value++} />
      )}
    </div>
  );
}

interface MessagesProps {
  readonly chat: ChatHead;
  readonly state: ChatState;
  readonly loading: Attempts;
}

/** The messages, or why there are none. A message that arrives changes nothing else in the view. */
function Messages({ chat, state, loading }: MessagesProps) {
  const { store, outbox } = useSession();
  const { chatId } = state;
  const timeline = store.timeline(chatId).value;
  const isWriting = useComputed(() => outbox.items.value.some(({ chat_id }) => chat_id === chatId)).value;
  if (!timeline)
    return <div class="message-pane">{loading.problem !== '' && <NotLoaded onRetry={loading.again} />}</div>;
  const isEmpty = timeline.messages.length === 0 && !timeline.hasOlder && !timeline.hasNewer && !isWriting;
  return (
    <>
      <MessageList state={state} timeline={timeline} />
      {isEmpty && <EmptyChat chat={chat} state={state} />}
    </>
  );
}

function ChatHeader({ chat }: { chat: ChatHead }) {
  const { chat_id, type, description, participant_count } = chat;
  const searchHref = `/search?chat=${chat_id}`;
  const open = (name: 'people' | 'date') => () => {
    openDialog.value = { name, chatId: chat_id };
  };
  useEffect(() => () => closeDialogOf(chat_id), [chat_id]);
  /** The items that have buttons of their own on a wide screen. */
  const first = (): readonly MenuItem[] =>
    isNarrow.peek()
      ? [
          { label: text.chat.search, icon: 'search', act: () => navigate(searchHref) },
          { label: text.jumpToDate.title, icon: 'calendar', act: open('date') },
        ]
      : [];
  return (
    <header class="chat-header">
      <a class="icon-button back" href="/" aria-label={text.common.allChats}>
        <Icon name="back" />
      </a>
      <ChatAvatar chat={chat} />
      <div class="title">
        <h1>
          <bdi>{chatName(chat)}</bdi>
        </h1>
        <p>{type === 'direct' ? <PeerLine chat={chat} /> : description || text.common.people(participant_count)}</p>
      </div>
      <Pins chat={chat} />
      <div class="wide">
        <a class="icon-button" href={searchHref} aria-label={text.chat.search} title={text.chat.search}>
          <Icon name="search" />
        </a>
        <IconButton icon="calendar" label={text.jumpToDate.title} onClick={open('date')} />
      </div>
      {type !== 'direct' && <IconButton icon="people" label={text.chat.people} onClick={open('people')} />}
      <ChatMenu chat={chat} label={text.chat.options} first={first} />
    </header>
  );
}

/** The other side of a direct chat: its name, what it does, and whether it is there. */
function PeerLine({ chat: { peer } }: { chat: ChatHead }) {
  const { store } = useSession();
  const presence = store.presence.value.get(peer?.user_id ?? 0);
  const status = peer && store.user(peer.user_id)?.status_text;
  return <>{[`@${peer?.name ?? ''}`, presence && text.presence[presence], status].filter(Boolean).join(' · ')}</>;
}

/** Loads the newest messages, or those around the message of a link. */
function useMessages(state: ChatState, messageId: number | undefined): Attempts {
  const { timelines, openChat } = useSession();
  const { chatId } = state;
  const load = useCallback(async () => {
    const isLeavingLink = messageId === undefined && state.target.peek() !== undefined;
    state.target.value = undefined;
    if (messageId === undefined) {
      await openChat(chatId);
      if (isLeavingLink) state.sent.value++;
      return;
    }
    await timelines.around(chatId, messageId);
    if (state.find(messageId)) {
      state.target.value = messageId;
      return;
    }
    tell(text.chat.messageGone);
    navigate(chatPath(chatId), { replace: true });
  }, [chatId, messageId, state, timelines, openChat]);
  return useLoading(text.chat.failed, load);
}

function useAbsence(chatId: number): Absence | undefined {
  const { store, loader } = useSession();
  const [isMissing, setMissing] = useState(false);
  const { problem, run } = useAttempts(text.chat.failed);
  const wasKnown = useRef(false);
  const isKnown = useComputed(() => store.chat(chatId) !== undefined).value;
  wasKnown.current ||= isKnown;
  const isUnknown = !isKnown && store.isReady.value;
  useEffect(() => {
    setMissing(false);
    if (isUnknown && !wasKnown.current) run(async () => setMissing((await loader.loadChat(chatId)) === undefined));
  }, [isUnknown, chatId, loader, run]);
  if (isKnown) return undefined;
  if (wasKnown.current) return 'removed';
  if (isMissing) return 'missing';
  return problem !== '' || store.connection.value === 'lost' ? 'away' : undefined;
}
