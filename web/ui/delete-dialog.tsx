/** @jsxImportSource preact */
import type { MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { Problem, useSubmit } from './problem.tsx';

export function DeleteDialog({ message, onClose }: { message: MessageRecord; onClose: () => void }) {
  const { client, store } = useSession();
  const { problem, submit } = useSubmit();
  const remove = async () => {
    const deleted = await client.messages.delete({ message_id: message.message_id });
    store.putMessage(deleted.message);
    onClose();
    // The button that asked for it goes with the message.
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      const row = document.querySelector<HTMLElement>(`[data-message="${message.message_id}"]`);
      (row ?? document.querySelector<HTMLElement>('.composer textarea'))?.focus();
    });
  };
  return (
    <Dialog title={text.deleteDialog.title} onClose={onClose}>
      <p>{text.deleteDialog.question}</p>
      <Problem words={problem} />
      <div class="buttons">
        <button type="button" class="button quiet" onClick={onClose}>
          {text.common.cancel}
        </button>
        <button type="button" class="button danger" autofocus onClick={() => submit(remove)}>
          {text.deleteDialog.delete}
        </button>
      </div>
    </Dialog>
  );
}
