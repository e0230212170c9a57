/** @jsxImportSource preact */
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import { ChatState } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { chatName, useSession } from './context.ts';
import { isWindowOpen } from './dialogs.ts';
import { IconButton } from './icon.tsx';
import { MessageRow, UnsentRow } from './message.tsx';
import { OpenChatDialog } from './open-chat-dialog.tsx';
import { Problem, useAttempts, useLoading } from './problem.tsx';
import { chatPath, navigate } from './route.ts';
import './thread-pane.css';

const endPx = 80;

/** A thread beside its chat: the first message, and the replies. */
export function ThreadPane({ chat, rootId, onClose }: { chat: ChatHead; rootId: number; onClose: () => void }) {
  const { store, timelines, outbox } = useSession();
  const { chat_id } = chat;
  const state = useMemo(() => new ChatState(chat_id, store, rootId), [chat_id, rootId, store]);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const load = useCallback(() => timelines.openThread(chat_id, rootId), [chat_id, rootId, timelines]);
  const loading = useLoading(text.thread.failed, load, { not_found: text.thread.gone });
  const earlier = useAttempts(text.thread.earlierFailed);
  const thread = store.threads.value.get(rootId);
  const replies = thread?.replies.messages.filter(({ deleted_at }) => deleted_at === null) ?? [];
  const ids = new Set([rootId, ...replies.map(({ message_id }) => message_id)]);
  const unsent = outbox.unsentIn(chat_id, replies).filter(({ reply_to }) => ids.has(reply_to ?? 0));
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [replies.at(-1)?.message_id, unsent.length]);
  const close = () => {
    navigate(chatPath(chat_id));
    onClose();
  };
  return (
    <section
      class="thread-pane"
      aria-label={text.thread.title}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented || isWindowOpen()) return;
        event.stopPropagation();
        close();
      }}
    >
      <header>
        <div>
          <h2>{text.thread.title}</h2>
          <p>
            <bdi>{chatName(chat)}</bdi>
          </p>
        </div>
        <IconButton icon="close" label={text.thread.close} onClick={close} />
      </header>
      <div
        class="replies-list"
        role="log"
        aria-label={text.thread.replies}
        // The live region of the chat announces replies too.
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        ref={scroller}
        {...state.activation}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < endPx;
        }}
      >
        <Problem words={loading.problem} onRetry={loading.again} />
        {thread && <MessageRow message={thread.root} isContinued={false} state={state} />}
        {thread && <p class="reply-count">{countOf(thread.root.reply_count ?? 0)}</p>}
        {thread?.replies.hasOlder && (
          <button
            type="button"
            class="button quiet"
            onClick={() => earlier.run(() => timelines.olderReplies(chat_id, rootId))}
          >
            {earlier.problem === '' ? text.thread.earlier : text.common.tryAgain}
          </button>
        )}
        <Problem words={earlier.problem} />
        {replies.map((message) => (
          <MessageRow key={message.message_id} message={message} isContinued={false} state={state} />
        ))}
        {unsent.map((item) => (
          <UnsentRow key={item.key} item={item} isContinued={false} state={state} />
        ))}
      </div>
      <Composer chat={chat} state={state} />
      <OpenChatDialog state={state} />
    </section>
  );
}

const countOf = (count: number): string => (count === 0 ? text.thread.noReplies : text.common.replies(count));
