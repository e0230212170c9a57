/** @jsxImportSource preact */
import type { ChatState } from './chat-state.ts';
import { FailedDialog, later } from './later.tsx';

const ChatDialogs = later(async () => (await import('./parts.ts')).ChatDialogs, FailedDialog);

/** The window about a message, if one is open. */
export function OpenChatDialog({ state }: { state: ChatState }) {
  const close = () => {
    state.viewing.value = undefined;
    state.deleting.value = undefined;
  };
  const isOpen = state.viewing.value !== undefined || state.deleting.value !== undefined;
  return isOpen ? <ChatDialogs state={state} onClose={close} /> : null;
}
