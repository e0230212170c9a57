/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { IconButton } from './icon.tsx';
import './dialog.css';

interface DialogProps {
  /** Says the act. */
  readonly title: string;
  readonly onClose: () => void;
  /** Only a button in it closes it: it shows something that would be lost. */
  readonly isHeld?: boolean;
  readonly children: ComponentChildren;
}

/** A window above the page. The browser keeps the focus in it, closes it at Escape or a click outside, and gives the focus back. */
export function Dialog({ title, onClose, isHeld = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = ref;
    current?.showModal();
    // A dialog that is removed while it is open gives no focus back.
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-label={title}
      onClose={({ currentTarget }) => currentTarget.isConnected && onClose()}
      // Browsers that do not know `closedby` send this event at Escape.
      onCancel={(event) => isHeld && event.preventDefault()}
      closedby={isHeld ? 'none' : 'any'}
    >
      <div class="content">
        <header>
          <h2>{title}</h2>
          {!isHeld && <IconButton icon="close" label={text.common.close} onClick={() => ref.current?.close()} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}
