/** @jsxImportSource preact */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { afterTyping, typingPause } from '../lib/typing-pause.ts';
import type { Unsent } from '../outbox/outbox.ts';
import { maxMessages, type Timeline } from '../store/timeline.ts';
import { text } from '../text/text.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { MessageRow, UnsentRow } from './message.tsx';
import { Problem, useAttempts } from './problem.tsx';
import { firstUnreadIn, keepRows, type Row, rowsOf } from './rows.ts';
import { dayName } from './time.ts';
import './message-list.css';

/** Messages are loaded before the reader gets to them. */
const loadAheadPx = 2_000;

const endPx = 48;

/** Messages far from the view are dropped so long after others came. */
const trimMs = 100;

/** The list repeats its last scroll for so long after each measurement, and goes to what was the end then. */
const repeatMs = 200;

/** The messages of a chat: virtual, and loaded in both directions. */
export function MessageList({ state, timeline }: { state: ChatState; timeline: Timeline }) {
  const { chatId } = state;
  const { store, timelines, outbox } = useSession();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const isAtEnd = useRef(true);
  const last = useRef<Pick<Place, 'top' | 'height'>>({ top: 0, height: Number.POSITIVE_INFINITY });
  /** The newest messages are on their way. */
  const isGoingToEnd = useRef(false);
  /** When it was last sent to its end, or rows were measured. */
  const movedAt = useRef(0);
  const [isFarFromEnd, setFarFromEnd] = useState(false);
  // The line stays where it was when the chat was opened.
  useState(() => {
    const chat = store.chat(chatId);
    if (chat) state.firstUnread.value = firstUnreadIn(timeline, chat, store.me.user_id);
  });
  const items = outbox.items.value;
  const unsent = useMemo(() => outbox.unsentIn(chatId, timeline.messages), [items, chatId, timeline.messages]);
  const rows = useRows(timeline, unsent, state.firstUnread.value, store.me.user_id);
  const shift = useShift(rows);
  const elementOf = useElements(state);

  const shownRows = useRef(0);
  const scrollToEnd = () => list.current?.scrollToIndex(shownRows.current - 1, { align: 'end' });
  const toEnd = () => {
    isAtEnd.current = true;
    movedAt.current = performance.now();
    state.reachedEnd.value++;
    scrollToEnd();
  };
  const isFollowing = useRef(false);
  /** Scrolls to rows that are measured by now. While somebody types, it is a step of its own. */
  const followEnd = async () => {
    if (isFollowing.current) return;
    isFollowing.current = true;
    await typingPause();
    isFollowing.current = false;
    if (isAtEnd.current) toEnd();
  };
  const measured = useMeasured(scroller);
  const older = useAttempts(text.messageList.olderFailed);
  const newer = useAttempts(text.messageList.newerFailed);
  const loadAhead = ({ top, left }: Place) => {
    if (top < loadAheadPx && timeline.hasOlder && !older.hasFailed()) older.run(() => timelines.older(chatId));
    if (left < loadAheadPx && timeline.hasNewer && !newer.hasFailed()) newer.run(() => timelines.newer(chatId));
  };
  const checkPlace = () => {
    // Before the rows are measured, their heights are guesses, and so is the place.
    if (!list.current || !measured.isDone()) return;
    const place = placeOf(list.current);
    const { top, left, height, pageHeight } = place;
    // A reader who scrolls up leaves the end. Rows that are added, or are higher than the guess, also move the end away.
    const isLeaving = top < last.current.top && left > 1;
    const hasGrown = height > last.current.height;
    last.current = place;
    if (isLeaving && isAtEnd.current) stopScroll(list.current);
    const isThere = isLeaving ? false : isAtEnd.current || (left < endPx && !hasGrown);
    isAtEnd.current = isGoingToEnd.current || (isThere && !timeline.hasNewer);
    if (isAtEnd.current && left > 1 && !timeline.hasNewer) {
      // Without new rows the page has become smaller: the composer grows, or the keyboard of a phone opens.
      if (hasGrown) void followEnd();
      else scrollToEnd();
    }
    setFarFromEnd(left > pageHeight || timeline.hasNewer);
    loadAhead(place);
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
      isAtEnd.current = at <= 0;
      if (at > 0) list.current?.scrollToIndex(at, { align: 'start', offset: -120 });
    }
    // A list at rest is scrolled once new rows are measured: to do it before, too, would take as long again.
    const isAtRest = measured.isDone() && performance.now() - movedAt.current > repeatMs;
    const willBeMeasured = isAtRest && !isGoingToEnd.current && rows.length > shownRows.current;
    shownRows.current = rows.length;
    if (!timeline.hasNewer) isGoingToEnd.current = false;
    if (!isAtEnd.current || timeline.hasNewer) checkPlace();
    else if (!willBeMeasured) toEnd();
    if (list.current) loadAhead(placeOf(list.current));
    if (timeline.messages.length <= maxMessages) return undefined;
    // A step of its own, after this one is on the screen.
    return afterTyping(() => {
      const { top, height } = last.current;
      timelines.trim(chatId, top < height / 2 ? 'newest' : 'oldest');
    }, trimMs);
  }, [timeline, unsent, state.firstUnread.value]);

  const goToEnd = () => {
    state.target.value = undefined;
    isAtEnd.current = true;
    isGoingToEnd.current = timeline.hasNewer;
    if (timeline.hasNewer) newer.run(() => timelines.newest(chatId));
    else toEnd();
  };
  const focusedAt = useFocusedRow(state, rows, scroller, list);
  const editedAt = useEditedRow(state, rows, list, () => {
    isAtEnd.current = false;
  });
  const sent = state.sent.value;
  useEffect(() => {
    if (sent > 0) goToEnd();
  }, [sent]);
  return (
    <div class="message-pane">
      {/* New messages are announced by a live region: here, scrolling would announce old ones. */}
      <div
        class="message-list"
        role="log"
        aria-label={text.messageList.label}
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        ref={scroller}
        {...state.activation}
      >
        <div class="filler" />
        <Virtualizer
          ref={list}
          scrollRef={scroller}
          data={rows}
          shift={shift}
          itemSize={52}
          keepMounted={keptRows(focusedAt, editedAt)}
          onScroll={() => {
            state.isScrolling = true;
            checkPlace();
          }}
          onScrollEnd={() => {
            state.isScrolling = false;
            state.activate(scroller.current?.querySelector('.message:hover') ?? null);
          }}
          onResize={() => {
            measured.next();
            // A page that becomes smaller moves no row.
            if (list.current?.scrollSize !== last.current.height) movedAt.current = performance.now();
            checkPlace();
          }}
        >
          {elementOf}
        </Virtualizer>
      </div>
      {older.problem !== '' && (
        <div class="not-loaded">
          <Problem words={older.problem} onRetry={older.again} />
        </div>
      )}
      {newer.problem !== '' && (
        <div class="not-loaded at-end">
          <Problem words={newer.problem} onRetry={newer.again} />
        </div>
      )}
      {isFarFromEnd && (
        <button type="button" class="to-end" onClick={goToEnd}>
          <Icon name="down" /> {text.messageList.toEnd}
        </button>
      )}
    </div>
  );
}

const noRows: readonly number[] = [];

const keptRows = (...rows: readonly number[]): readonly number[] =>
  rows.every((at) => at < 0) ? noRows : [...new Set(rows)].filter((at) => at >= 0);

/** What part of the list is shown, in pixels. */
interface Place {
  readonly top: number;
  /** What is below. */
  readonly left: number;
  readonly height: number;
  readonly pageHeight: number;
}

/** The list knows it. To ask the page would make the browser lay it out. */
const placeOf = ({ scrollOffset, scrollSize, viewportSize }: VirtualizerHandle): Place => ({
  top: scrollOffset,
  left: scrollSize - scrollOffset - viewportSize,
  height: scrollSize,
  pageHeight: viewportSize,
});

/**
 * Ends a scroll of the list. It repeats its last scroll for as long as rows are measured, which those that the reader scrolls to
 * are: without this, the reader would be taken back. Only another scroll ends it, and one to nowhere moves nothing.
 */
const stopScroll = (list: VirtualizerHandle): void => list.scrollTo(undefined as never);

/**
 * Puts the focus on the message that the keys have moved to. Its row is rendered for it, wherever the list is scrolled to.
 * Returns the place of that row, or -1.
 */
function useFocusedRow(
  state: ChatState,
  rows: readonly Row[],
  scroller: { readonly current: HTMLElement | null },
  list: { readonly current: VirtualizerHandle | null },
): number {
  const focused = state.focused.value;
  const at = focused === undefined ? -1 : rows.findIndex(({ key }) => key === String(focused.messageId));
  useLayoutEffect(() => {
    if (at < 0 || !focused) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-message="${focused.messageId}"]`);
    row?.focus({ preventScroll: true });
    list.current?.scrollToIndex(at, { align: 'nearest' });
  }, [focused]);
  return at;
}

/**
 * Scrolls to the message that is edited, if its start is not on the screen. Its row stays rendered for it, so that the text and
 * the focus are still there when the reader comes back. Returns the place of that row, or -1.
 */
function useEditedRow(
  state: ChatState,
  rows: readonly Row[],
  list: { readonly current: VirtualizerHandle | null },
  onLeave: () => void,
): number {
  const edited = state.editing.value;
  const starts = state.focusEdit.value;
  const at = edited === undefined ? -1 : rows.findIndex(({ key }) => key === String(edited));
  useLayoutEffect(() => {
    const { current } = list;
    if (at < 0 || !current) return;
    const top = current.getItemOffset(at) - current.scrollOffset;
    if (top >= 0 && top < current.viewportSize) return;
    onLeave();
    current.scrollToIndex(at, { align: 'center' });
  }, [starts]);
  return at;
}

/**
 * Hides the rows until their heights are known, which is in the frame in which they are first rendered. Before, the list has the
 * height of a guess, and what it shows would move.
 */
function useMeasured(scroller: { readonly current: HTMLElement | null }) {
  const count = useRef(0);
  useLayoutEffect(() => scroller.current?.classList.add('unmeasured'), [scroller]);
  return {
    isDone: () => count.current > 1,
    /** The first measurement is that of the list itself, the next one that of its rows. */
    next: () => {
      count.current++;
      if (count.current > 1) scroller.current?.classList.remove('unmeasured');
    },
  };
}

/** Returns the rows of a timeline. Those that did not change are the same objects as before. */
function useRows(
  timeline: Timeline,
  unsent: readonly Unsent[],
  firstUnread: number | undefined,
  me: number,
): readonly Row[] {
  const before = useRef<readonly Row[]>([]);
  return useMemo(() => {
    before.current = keepRows(before.current, rowsOf(timeline, unsent, firstUnread, me));
    return before.current;
  }, [timeline, unsent, firstUnread, me]);
}

/**
 * Returns what makes the element of a row. The list asks for those of all its rows whenever it is scrolled or measured: the same
 * element again costs nothing.
 */
function useElements(state: ChatState): (row: Row) => VNode {
  return useMemo(() => {
    const made = new WeakMap<Row, VNode>();
    return (row) => {
      const before = made.get(row);
      if (before) return before;
      const element = <RowView key={row.key} row={row} state={state} />;
      made.set(row, element);
      return element;
    };
  }, [state]);
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
          <span>{text.messageList.new}</span>
        </div>
      );
    case 'message':
      return <MessageRow message={row.message} isContinued={row.isContinued} state={state} />;
    case 'unsent':
      return <UnsentRow item={row.item} isContinued={row.isContinued} state={state} />;
  }
}

function ChatStart({ state }: { state: ChatState }) {
  const { store } = useSession();
  const chat = store.chat(state.chatId);
  return <p class="chat-start">{chat?.type === 'direct' ? text.messageList.startOfDirect : text.messageList.start}</p>;
}
