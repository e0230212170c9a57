/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import type { ChatState } from './chat-state.ts';
import { chatName, maySend, useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { Tray } from './tray.tsx';
import { useCompletion } from './use-completion.tsx';
import { useFileDrop } from './use-file-drop.ts';
import { useTellTyping } from './use-tell-typing.ts';
import './composer.css';

/** Without a keyboard, Enter is a new line. */
const hasKeyboard = () => !matchMedia('(pointer: coarse)').matches;

/** The server accepts so many in one message. More become further messages. */
const maxFiles = 10;

export function Composer({ chat, state }: { chat: ChatRecord; state: ChatState }) {
  const { outbox, drafts, uploads, store, report } = useSession();
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { threadId } = state;
  // Ids are positive: a thread has a draft and files of its own.
  const draftId = threadId === undefined ? chat.chat_id : -threadId;
  const tray = uploads.of(draftId);
  const draft = drafts.get(draftId);
  const reply = state.replyingTo.value;

  const focusRequests = state.focusComposer.value;
  useEffect(() => {
    if (focusRequests > 0 || hasKeyboard()) field.current?.focus();
  }, [focusRequests]);

  const tellTyping = useTellTyping(chat);
  const completion = useCompletion(field, chat, draft, (text) => drafts.set(draftId, text));
  const attach = (files: readonly File[]) => {
    if (files.length === 0) return;
    uploads.add(draftId, files);
    field.current?.focus();
  };
  const isDropping = useFileDrop(maySend(chat) && threadId === undefined, attach);
  const isUploading = tray.some(({ state: { name } }) => name === 'waiting' || name === 'uploading');
  const hasFailed = tray.some(({ state: { name } }) => name === 'failed');
  // Enter counts also while files are on their way.
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    if (!isWaiting || isUploading) return;
    setWaiting(false);
    if (!hasFailed) send();
  }, [isWaiting, isUploading, hasFailed]);

  if (!maySend(chat)) {
    return <p class="composer-closed">Only the owner and admins write in this channel.</p>;
  }
  function send(): void {
    const text = drafts.get(draftId);
    if (hasFailed || (text.trim() === '' && tray.length === 0)) return;
    if (isUploading) {
      setWaiting(true);
      return;
    }
    const files = uploads.take(draftId);
    drafts.set(draftId, '');
    state.replyingTo.value = undefined;
    state.firstUnread.value = undefined;
    state.sent.value++;
    outbox
      .send(chat.chat_id, text, reply?.message_id ?? threadId ?? null, files.slice(0, maxFiles))
      .then(async () => {
        for (let i = maxFiles; i < files.length; i += maxFiles) {
          await outbox.send(chat.chat_id, '', threadId ?? null, files.slice(i, i + maxFiles));
        }
      })
      .catch(report);
    field.current?.focus();
  }
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
      <Tray items={tray} />
      {isDropping && <div class="drop-hint">Drop files to attach them</div>}
      <div class="box">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={({ currentTarget }) => {
            attach([...(currentTarget.files ?? [])]);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
        <IconButton icon="attach" label="Attach files" onClick={() => picker.current?.click()} />
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
          onPaste={(event) => {
            // Office programs put a picture of the text beside the text.
            const { files = [], types = [] } = event.clipboardData ?? {};
            if (files.length === 0 || types.includes('text/plain')) return;
            event.preventDefault();
            attach([...files]);
          }}
        />
        <button
          type="submit"
          class="send"
          aria-label={threadId === undefined ? 'Send' : 'Answer in the thread'}
          title="Send"
          disabled={(draft.trim() === '' && tray.length === 0) || hasFailed}
        >
          <Icon name="send" />
        </button>
      </div>
      <p class="waiting" role="status">
        {isWaiting && 'Your message is sent when its files are uploaded.'}
      </p>
    </form>
  );
}
