/** @jsxImportSource preact */
import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { typingPause } from '../lib/typing-pause.ts';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import type { ChatState } from './chat-state.ts';
import { chatName, maySend, useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { hasKeyboard } from './keyboard.ts';
import { later } from './later.tsx';
import { quoteOf } from './markdown.ts';
import { pastedFiles } from './pasted-files.ts';
import { useCompletion } from './use-completion.tsx';
import { useFileDrop } from './use-file-drop.ts';
import { useTellTyping } from './use-tell-typing.ts';
import './composer.css';
// The styles of a part that comes later.
import './tray.css';

const Tray = later(
  async () => (await import('./parts.ts')).Tray,
  () => null,
);

export function Composer({ chat, state }: { chat: ChatHead; state: ChatState }) {
  const { outbox, drafts, uploads, store, report } = useSession();
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  useRoom(form, maySend(chat));
  const { threadId } = state;
  const tray = uploads.of(state);
  // The field and the button follow it without rendering the rest at each key.
  const draft = useComputed(() => drafts.get(state));
  const reply = state.replyingTo.value;

  const focusRequests = state.focusComposer.value;
  useEffect(() => {
    if (focusRequests > 0 || hasKeyboard()) field.current?.focus();
  }, [focusRequests]);

  const tellTyping = useTellTyping(chat);
  const completion = useCompletion(field, chat, draft, (changed) => drafts.set(state, changed));
  const attach = (files: readonly File[]) => {
    if (files.length === 0) return;
    uploads.add(state, files);
    field.current?.focus();
  };
  const isDropping = useFileDrop({ isEnabled: maySend(chat), isThread: threadId !== undefined, onFiles: attach });
  // Files that are on their way, or wait for the connection, hold up nothing here: their message waits in the outbox.
  const cannotSend = useComputed(() => {
    const files = uploads.of(state);
    const hasFailed = files.some(({ state: upload }) => upload.name === 'failed' && !upload.isTransient);
    return hasFailed || (files.length === 0 && draft.value.trim() === '');
  });

  if (!maySend(chat)) {
    return <p class="composer-closed">{text.composer.closed}</p>;
  }
  function send(): void {
    if (cannotSend.value) return;
    const content = draft.value;
    const files = uploads.take(state);
    outbox.send(chat.chat_id, content, { threadId, replyTo: reply?.message_id, files }).catch(report);
    drafts.set(state, '');
    // A draft that was written and sent in one turn has not changed, so the field would not follow it.
    if (field.current) field.current.value = '';
    state.replyingTo.value = undefined;
    state.firstUnread.value = undefined;
    state.sent.value++;
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
  const sendLabel = threadId === undefined ? text.composer.send : text.composer.sendInThread;
  return (
    <div class="composer-room">
      <form
        class="composer"
        ref={form}
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
              {text.composer.replyTo(<bdi>{store.user(reply.user_id)?.display_name}</bdi>)} {quoteOf(reply)}
            </span>
            <IconButton
              icon="close"
              label={text.composer.cancelReply}
              onClick={() => {
                state.replyingTo.value = undefined;
              }}
            />
          </div>
        )}
        {tray.length > 0 && <Tray items={tray} />}
        {isDropping && <div class="drop-hint">{text.composer.drop}</div>}
        <div class="box">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={text.composer.files}
            onChange={({ currentTarget }) => {
              attach([...(currentTarget.files ?? [])]);
              // The same file can be chosen again.
              currentTarget.value = '';
            }}
          />
          <IconButton icon="attach" label={text.composer.attach} onClick={() => picker.current?.click()} />
          <textarea
            ref={field}
            rows={1}
            aria-label={threadId === undefined ? text.composer.message : text.composer.replyInThread}
            placeholder={threadId === undefined ? text.composer.messageTo(chatName(chat)) : text.composer.replyInThread}
            dir="auto"
            value={draft}
            onInput={(event) => {
              drafts.set(state, event.currentTarget.value);
              tellTyping();
            }}
            onKeyDown={onKeyDown}
            {...completion.field}
            onPaste={(event) => {
              const files = pastedFiles(event);
              if (files.length > 0) event.preventDefault();
              attach(files);
            }}
          />
          <button type="submit" class="send" aria-label={sendLabel} title={sendLabel} disabled={cannotSend}>
            <Icon name="send" />
          </button>
        </div>
      </form>
    </div>
  );
}

/** A new line covers the end of the list at first. The list makes room for it once the key is on the screen. */
function useRoom(form: { readonly current: HTMLElement | null }, isOpen: boolean): void {
  useLayoutEffect(() => {
    const { current } = form;
    const room = current?.parentElement;
    if (!room) return undefined;
    const observer = new ResizeObserver(async () => {
      if (current.offsetHeight > room.offsetHeight) await typingPause();
      room.style.maxHeight = `${current.offsetHeight}px`;
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [isOpen]);
}
