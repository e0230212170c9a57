/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import './popover.css';

interface PopoverProps {
  readonly label: string;
  /** The element that it belongs to. */
  readonly anchor: Element;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

const margin = 8;

/** A small window beside an element. The browser closes it at Escape or a click elsewhere. */
export function Popover({ label, anchor, onClose, children }: PopoverProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    element.showPopover();
    const [at, own] = [anchor.getBoundingClientRect(), element.getBoundingClientRect()];
    const above = at.top - own.height - margin;
    const left = Math.min(Math.max(margin, at.right - own.width), innerWidth - own.width - margin);
    element.style.left = `${left}px`;
    element.style.top = `${above > margin ? above : Math.min(at.bottom + margin, innerHeight - own.height - margin)}px`;
    element.querySelector<HTMLElement>('button, input')?.focus();
  }, [anchor]);
  return (
    <div
      ref={ref}
      class="popover"
      popover="auto"
      role="dialog"
      aria-label={label}
      onToggle={(event) => {
        if ((event as unknown as ToggleEvent).newState === 'closed') onClose();
      }}
    >
      {children}
    </div>
  );
}
