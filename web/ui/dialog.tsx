/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './icon.tsx';
import './dialog.css';

interface DialogProps {
  /** Says the act. */
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A window above the page. The browser keeps the focus in it, closes it at Escape or a click outside, and gives the focus back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} class="dialog" aria-label={title} onClose={onClose} closedby="any">
      <div class="content">
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={() => ref.current?.close()} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
