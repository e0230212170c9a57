/** @jsxImportSource preact */
import { useEffect, useRef } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import type { ChatState } from './chat-state.ts';
import { chatName, maySend, useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { useCompletion } from './use-completion.tsx';
import { useTellTyping } from './use-tell-typing.ts';
import './composer.css';

/** Without a keyboard, Enter is a new line. */
const hasKeyboard = () => !matchMedia('(pointer: coarse)').matches;

export function Composer({ chat, state }: { chat: ChatRecord; state: ChatState }) {
  const { outbox, drafts, store, report } = useSession();
  const field = useRef<HTMLTextAreaElement>(null);
  const { threadId } = state;
  // Ids are positive: a thread has a draft of its own.
  const draftId = threadId === undefined ? chat.chat_id : -threadId;
  const draft = drafts.get(draftId);
  const reply = state.replyingTo.value;

  const focusRequests = state.focusComposer.value;
  useEffect(() => {
    if (focusRequests > 0 || hasKeyboard()) field.current?.focus();
  }, [focusRequests]);

  const tellTyping = useTellTyping(chat);
  const completion = useCompletion(field, chat, draft, (text) => drafts.set(draftId, text));
  if (!maySend(chat)) {
    return <p class="composer-closed">Only the owner and admins write in this channel.</p>;
  }
  const send = () => {
    const text = drafts.get(draftId);
    if (text.trim() === '') return;
    drafts.set(draftId, '');
    state.replyingTo.value = undefined;
    state.firstUnread.value = undefined;
    state.sent.value++;
    outbox.send(chat.chat_id, text, reply?.message_id ?? threadId ?? null).catch(report);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || completion.onKeyDown(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && hasKeyboard()) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && field.current?.value === '') {
      if (state.editLast()) event.preventDefault();
    } else if (event.key === 'Escape' && reply) {
      event.stopPropagation();
      state.replyingTo.value = undefined;
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {completion.list}
      {reply && (
        <div class="replying">
          <Icon name="reply" />
          <span>
            Reply to <bdi>{store.user(reply.user_id)?.display_name}</bdi>: {reply.content || reply.file?.name}
          </span>
          <IconButton
            icon="close"
            label="Cancel the reply"
            onClick={() => {
              state.replyingTo.value = undefined;
            }}
          />
        </div>
      )}
      <div class="box">
        <textarea
          ref={field}
          rows={1}
          aria-label={threadId === undefined ? 'Message' : 'Reply in the thread'}
          placeholder={threadId === undefined ? `Message ${chatName(chat)}` : 'Reply in the thread'}
          dir="auto"
          value={draft}
          onInput={(event) => {
            drafts.set(draftId, event.currentTarget.value);
            tellTyping();
          }}
          onKeyDown={onKeyDown}
          {...completion.field}
        />
        <button
          type="submit"
          class="send"
          aria-label={threadId === undefined ? 'Send' : 'Answer in the thread'}
          title="Send"
          disabled={draft.trim() === ''}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
