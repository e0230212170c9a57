/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ChatHead, MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { hasKeyboard } from './keyboard.ts';
import { Problem, useSubmit } from './problem.tsx';
import { useCompletion } from './use-completion.tsx';
import './edit-form.css';

/** Completions need about this much room. */
const completionPx = 320;

const sentences = {
  validation_failed: text.editForm.tooLong,
  payload_too_large: text.editForm.tooLong,
  not_found: text.editForm.gone,
  conflict: text.editForm.gone,
};

interface EditProps {
  readonly message: MessageRecord;
  readonly state: ChatState;
}

/** Edits a message in place. */
export function EditForm({ message, state }: EditProps) {
  const chat = useSession().store.chat(message.chat_id);
  return chat ? <Form message={message} state={state} chat={chat} /> : null;
}

function Form({ message, state, chat }: EditProps & { readonly chat: ChatHead }) {
  const { client, store } = useSession();
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  // The list may unmount this row, and mount it again.
  const draft = state.editDraft;
  const setDraft = (changed: string) => {
    state.editDraft.value = changed;
  };
  const completion = useCompletion(field, chat, draft, setDraft);
  // The list of messages cuts off what is above or below it.
  const [isBelow, setBelow] = useState(false);
  const isOffering = completion.list !== undefined;
  useLayoutEffect(() => {
    const top = form.current?.closest('[role="log"]')?.getBoundingClientRect().top ?? 0;
    setBelow((form.current?.getBoundingClientRect().top ?? 0) - top < completionPx);
  }, [isOffering]);
  const { problem, submit, fail } = useSubmit({ sentences });
  useEffect(() => {
    const area = field.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, [state.focusEdit.value]);
  const save = () => {
    const content = field.current?.value ?? draft.value;
    if (content.trim() === '') return fail(text.editForm.empty);
    submit(async () => {
      if (content !== message.content) {
        const saved = await client.messages.edit({ message_id: message.message_id, content });
        store.putMessage(saved.message);
      }
      state.endEdit();
    });
  };
  return (
    <form
      ref={form}
      class={`edit-form${isBelow ? ' below' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={field}
        aria-label={text.editForm.label}
        dir="auto"
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        {...completion.field}
        onKeyDown={(event) => {
          if (event.isComposing || completion.onKeyDown(event)) return;
          if (event.key === 'Escape') {
            event.stopPropagation();
            state.endEdit();
          }
          if (event.key === 'Enter' && !event.shiftKey && hasKeyboard()) {
            event.preventDefault();
            save();
          }
        }}
      />
      {completion.list}
      <Problem words={problem} />
      <div class="buttons">
        <button type="submit" class="button">
          {text.common.save}
        </button>
        <button type="button" class="button quiet" onClick={() => state.endEdit()}>
          {text.common.cancel}
        </button>
      </div>
    </form>
  );
}
