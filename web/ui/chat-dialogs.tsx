/** @jsxImportSource preact */
import type { ChatState } from './chat-state.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { Lightbox } from './lightbox.tsx';

interface ChatDialogsProps {
  readonly state: ChatState;
  readonly onClose: () => void;
}

/** The windows about a message of a chat or a thread. */
export function ChatDialogs({ state, onClose }: ChatDialogsProps) {
  const deleted = state.deleting.value;
  return deleted ? <DeleteDialog message={deleted} onClose={onClose} /> : <Lightbox state={state} />;
}
