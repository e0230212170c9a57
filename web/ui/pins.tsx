/** @jsxImportSource preact */
import { useRef, useState } from 'preact/hooks';
import type { ChatHead, MessageRecord } from '../store/records.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Icon } from './icon.tsx';
import { FailedDialog, later } from './later.tsx';
import './pins.css';

const PinList = later(async () => (await import('./parts.ts')).PinList, FailedDialog);

/** Returns a function that pins a message or unpins it. */
export function useSetPinned(): (message: MessageRecord, isPinned: boolean) => Promise<void> {
  const { client, store } = useSession();
  return async ({ chat_id, message_id }, isPinned) => {
    const { chat } = await (isPinned ? client.messages.pin : client.messages.unpin)({ message_id });
    store.changeChat(chat_id, () => ({ pins: chat.pins }));
  };
}

/** The button with the number of pinned messages. It shows them. */
export function Pins({ chat }: { chat: ChatHead }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const count = chat.pins.length;
  if (count === 0) return null;
  const close = () => setOpen(false);
  return (
    <>
      <button
        type="button"
        ref={button}
        class="icon-button pins-button"
        aria-label={text.pins.count(count)}
        title={text.pins.title}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="pin" />
        <span aria-hidden="true">{count}</span>
      </button>
      {isOpen && button.current && <PinList chat={chat} anchor={button.current} onClose={close} />}
    </>
  );
}
