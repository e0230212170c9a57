/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { ChatRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { Problem, problemOf } from './problem.tsx';

/** Changes the name and the description of a group or a channel. */
export function EditChatDialog({ chat, onClose }: { chat: ChatRecord; onClose: () => void }) {
  const { client, store } = useSession();
  const [name, setName] = useState(chat.name ?? '');
  const [description, setDescription] = useState(chat.description);
  const [problem, setProblem] = useState('');
  const { chat_id } = chat;
  const save = async () => {
    try {
      const sent = await client.chats.update({ chat_id, name, description });
      store.changeChat(chat_id, () => ({ name: sent.chat.name, description: sent.chat.description }));
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title={text.editChat.title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') void save();
        }}
      >
        <label class="field">
          <span>{text.newChat.name}</span>
          <input
            type="text"
            required
            autofocus
            dir="auto"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>{text.editChat.description}</span>
          <textarea
            dir="auto"
            rows={3}
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </label>
        <Problem words={problem} />
        <div class="buttons">
          <button type="button" class="button quiet" onClick={onClose}>
            {text.common.cancel}
          </button>
          <button type="submit" class="button" disabled={name.trim() === ''}>
            {text.common.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
