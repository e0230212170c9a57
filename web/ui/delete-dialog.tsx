/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import type { MessageRecord } from '../store/records.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';

export function DeleteDialog({ message, onClose }: { message: MessageRecord; onClose: () => void }) {
  const { client, store } = useSession();
  const [problem, setProblem] = useState('');
  const remove = async () => {
    try {
      const deleted = await client.messages.delete({ message_id: message.message_id });
      store.putMessage(deleted.message);
      onClose();
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Dialog title="Delete message" onClose={onClose}>
      <p>Delete this message for everyone? This cannot be undone.</p>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="button" class="button quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={remove}>
          Delete
        </button>
      </div>
    </Dialog>
  );
}
