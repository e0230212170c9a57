/** @jsxImportSource preact */
import { useRef, useState } from 'preact/hooks';
import type { ChatHead } from '../store/records.ts';
import { text } from '../text/text.ts';
import { Icon } from './icon.tsx';
import { FailedDialog, later } from './later.tsx';
import './pins.css';

const PinList = later(async () => (await import('./parts.ts')).PinList, FailedDialog);

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
