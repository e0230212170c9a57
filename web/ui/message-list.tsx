/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { maxMessages, type Timeline } from '../store/timeline.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { MessageRow, UnsentRow } from './message.tsx';
import { firstUnreadIn, type Row, rowsOf } from './rows.ts';
import { dayName } from './time.ts';
import './message-list.css';

/** Messages are loaded before the reader gets to them. */
const loadAheadPx = 2_000;

const endPx = 48;

/** The messages of a chat: virtual, and loaded in both directions. */
export function MessageList({ state, timeline }: { state: ChatState; timeline: Timeline }) {
  const { chatId } = state;
  const { store, timelines, outbox, report } = useSession();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const isAtEnd = useRef(true);
  const [isFarFromEnd, setFarFromEnd] = useState(false);
  // The line stays where it was when the chat was opened.
  useState(() => {
    const unread = firstUnreadIn(timeline.messages, store.chat(chatId)?.unread_count ?? 0, store.me.user_id);
    if (!timeline.hasNewer) state.firstUnread.value = unread;
  });
  const unsent = useComputed(() =>
    outbox.items.value.filter((item) => item.chat_id === chatId && item.sentAs === undefined),
  ).value;
  const rows = rowsOf(timeline, unsent, state.firstUnread.value, store.me.user_id);
  const shift = useShift(rows);

  const toEnd = () => list.current?.scrollToIndex(rows.length - 1, { align: 'end' });
  const checkPlace = () => {
    // The list itself does not know its size before it is first on the screen.
    const { current } = scroller;
    if (!current) return;
    const { scrollTop, scrollHeight, clientHeight } = current;
    const left = scrollHeight - scrollTop - clientHeight;
    isAtEnd.current = left < endPx && !timeline.hasNewer;
    setFarFromEnd(left > clientHeight || timeline.hasNewer);
    if (scrollTop < loadAheadPx && timeline.hasOlder) timelines.older(chatId).catch(report);
    if (left < loadAheadPx && timeline.hasNewer) timelines.newer(chatId).catch(report);
    if (isAtEnd.current) state.reachedEnd.value++;
  };

  // Where to begin: at the message of a link, at the first unread one, or at the end.
  const isPlaced = useRef(false);
  const target = state.target.value;
  useLayoutEffect(() => {
    if (target === undefined) return;
    const at = rows.findIndex(({ key }) => key === String(target));
    if (at < 0) return;
    isPlaced.current = true;
    isAtEnd.current = false;
    list.current?.scrollToIndex(at, { align: 'center' });
  }, [target, rows.length > 0]);
  useLayoutEffect(() => {
    if (!isPlaced.current) {
      isPlaced.current = true;
      const at = rows.findIndex(({ kind }) => kind === 'unread');
      if (at > 0) list.current?.scrollToIndex(at, { align: 'start', offset: -120 });
      else toEnd();
    } else if (isAtEnd.current && !timeline.hasNewer) toEnd();
    checkPlace();
    // A step of its own, after this one is on the screen.
    if (timeline.messages.length > maxMessages) {
      const { scrollOffset = 0, scrollSize = 0 } = list.current ?? {};
      const timer = setTimeout(() => timelines.trim(chatId, scrollOffset < scrollSize / 2 ? 'newest' : 'oldest'), 100);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [timeline, unsent, state.firstUnread.value]);

  // The composer grows, or the keyboard of a phone opens.
  useEffect(() => {
    const observer = new ResizeObserver(() => isAtEnd.current && toEndRef.current());
    if (scroller.current) observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);
  const toEndRef = useRef(toEnd);
  toEndRef.current = toEnd;

  const goToEnd = () => {
    state.target.value = undefined;
    isAtEnd.current = true;
    if (timeline.hasNewer) timelines.newest(chatId).catch(report);
    else toEnd();
  };
  const sent = state.sent.value;
  useEffect(() => {
    if (sent > 0) goToEnd();
  }, [sent]);
  return (
    <div class="message-pane">
      {/* New messages are announced by a live region: here, scrolling would announce old ones. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <div class="message-list" role="log" aria-label="Messages" aria-live="off" tabIndex={0} ref={scroller}>
        <div class="filler" />
        <Virtualizer ref={list} scrollRef={scroller} data={rows} shift={shift} itemSize={52} onScroll={checkPlace}>
          {(row) => <RowView key={row.key} row={row} state={state} />}
        </Virtualizer>
      </div>
      {isFarFromEnd && (
        <button type="button" class="to-end" onClick={goToEnd}>
          <Icon name="down" /> Newest messages
        </button>
      )}
    </div>
  );
}

/** Returns whether rows were added or removed at the start: then the list keeps its place from the end. */
function useShift(rows: readonly Row[]): boolean {
  const before = useRef<{ first: string | undefined; last: string | undefined }>({ first: undefined, last: undefined });
  // The heads of days and of the chat come and go with the rows below them.
  const first = rows.find(({ kind }) => kind === 'message')?.key;
  const last = rows.at(-1)?.key;
  const isShifted = before.current.first !== first && before.current.last === last;
  useLayoutEffect(() => {
    before.current = { first, last };
  });
  return isShifted;
}

function RowView({ row, state }: { row: Row; state: ChatState }) {
  switch (row.kind) {
    case 'start':
      return <ChatStart state={state} />;
    case 'day':
      return (
        <h2 class="day">
          <span>{dayName(row.at)}</span>
        </h2>
      );
    case 'unread':
      return (
        <div class="unread-line">
          <span>New</span>
        </div>
      );
    case 'message':
      return <MessageRow message={row.message} isContinued={row.isContinued} state={state} />;
    case 'unsent':
      return <UnsentRow item={row.item} isContinued={row.isContinued} />;
  }
}

function ChatStart({ state }: { state: ChatState }) {
  const { store } = useSession();
  const chat = store.chat(state.chatId);
  return (
    <p class="chat-start">
      {chat?.type === 'direct' ? 'This is the start of your conversation.' : 'This is the start of the chat.'}
    </p>
  );
}
