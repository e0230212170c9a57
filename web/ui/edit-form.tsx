/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessageRecord } from '../store/records.ts';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import './edit-form.css';

/** Edits a message in place. */
export function EditForm({ message, state }: { message: MessageRecord; state: ChatState }) {
  const { client, store } = useSession();
  const field = useRef<HTMLTextAreaElement>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const area = field.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const save = async () => {
    const content = field.current?.value ?? '';
    if (content.trim() === '') return setProblem('A message needs a text. To remove it, delete it.');
    try {
      if (content !== message.content) {
        const saved = await client.messages.edit({ message_id: message.message_id, content });
        store.putMessage(saved.message);
      }
      state.endEdit();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        ref={field}
        aria-label="Edit message"
        dir="auto"
        defaultValue={message.content}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === 'Escape') {
            event.stopPropagation();
            state.endEdit();
          }
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
      />
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="button">
          Save
        </button>
        <button type="button" class="button quiet" onClick={() => state.endEdit()}>
          Cancel
        </button>
      </div>
    </form>
  );
}
