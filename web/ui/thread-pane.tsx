/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import { ChatState } from './chat-state.ts';
import { Composer } from './composer.tsx';
import { chatName, useSession } from './context.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { IconButton } from './icon.tsx';
import { MessageRow, UnsentRow } from './message.tsx';
import { chatPath, navigate } from './route.ts';
import './thread-pane.css';

const endPx = 80;

/** A thread beside its chat: the first message, and the replies. */
export function ThreadPane({ chat, rootId, onClose }: { chat: ChatRecord; rootId: number; onClose: () => void }) {
  const { store, timelines, outbox, report } = useSession();
  const { chat_id } = chat;
  const state = useMemo(() => new ChatState(chat_id, store, rootId), [chat_id, rootId, store]);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => void timelines.openThread(chat_id, rootId).catch(report), [chat_id, rootId, timelines, report]);
  const thread = store.threads.value.get(rootId);
  const replies = thread?.replies.messages.filter(({ deleted_at }) => deleted_at === null) ?? [];
  const ids = new Set([rootId, ...replies.map(({ message_id }) => message_id)]);
  const unsent = outbox.items.value.filter(
    ({ chat_id: chatId, reply_to, sentAs }) => chatId === chat_id && ids.has(reply_to ?? 0) && sentAs === undefined,
  );
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
      aria-label="Thread"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return;
        event.stopPropagation();
        close();
      }}
    >
      <header>
        <div>
          <h2>Thread</h2>
          <p>
            <bdi>{chatName(chat)}</bdi>
          </p>
        </div>
        <IconButton icon="close" label="Close the thread" onClick={close} />
      </header>
      <div
        class="replies-list"
        role="log"
        aria-label="Replies"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        ref={scroller}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < endPx;
        }}
      >
        {thread && <MessageRow message={thread.root} isContinued={false} state={state} />}
        {thread && <p class="reply-count">{countOf(thread.root.reply_count ?? 0)}</p>}
        {thread?.replies.hasOlder && (
          <button
            type="button"
            class="button quiet"
            onClick={() => void timelines.olderReplies(chat_id, rootId).catch(report)}
          >
            Show earlier replies
          </button>
        )}
        {replies.map((message) => (
          <MessageRow key={message.message_id} message={message} isContinued={false} state={state} />
        ))}
        {unsent.map((item) => (
          <UnsentRow key={item.key} item={item} isContinued={false} />
        ))}
      </div>
      <Composer chat={chat} state={state} />
      {state.deleting.value && (
        <DeleteDialog
          message={state.deleting.value}
          onClose={() => {
            state.deleting.value = undefined;
          }}
        />
      )}
    </section>
  );
}

const countOf = (count: number): string =>
  count === 0 ? 'No replies yet' : count === 1 ? '1 reply' : `${count} replies`;
