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

/** Puts an element that has a fixed position above another one, or below it if there is no room. */
export function placeBeside(element: HTMLElement, anchor: Element): void {
  const [at, own] = [anchor.getBoundingClientRect(), element.getBoundingClientRect()];
  const above = at.top - own.height - margin;
  const left = Math.min(Math.max(margin, at.right - own.width), innerWidth - own.width - margin);
  element.style.left = `${left}px`;
  const below = Math.max(margin, Math.min(at.bottom + margin, innerHeight - own.height - margin));
  element.style.top = `${above > margin ? above : below}px`;
}

/** A small window beside an element. The browser closes it at Escape or a click elsewhere. */
export function Popover({ label, anchor, onClose, children }: PopoverProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    element.showPopover();
    placeBeside(element, anchor);
    element.querySelector<HTMLElement>('button, input')?.focus();
    // A popover that is removed while it is open gives no focus back.
    return () => element.hidePopover();
  }, [anchor]);
  return (
    <div
      ref={ref}
      class="popover"
      popover="auto"
      role="dialog"
      aria-label={label}
      onToggle={(event) => {
        const isClosed = (event as unknown as ToggleEvent).newState === 'closed';
        if (isClosed && event.currentTarget.isConnected) onClose();
      }}
    >
      {children}
    </div>
  );
}
