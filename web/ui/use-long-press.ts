import { useMemo } from 'preact/hooks';

/** A finger that rests for so long asks for the menu. */
const pressMs = 450;

/** A click comes within this time after the finger is lifted, or not at all. */
const clickMs = 100;

/** A finger is never quite still. */
const slackPx = 10;

/** Returns the element of the selector that an event is in. */
const elementOf = (event: Event, selector: string): HTMLElement | null =>
  (event.target as Element).closest<HTMLElement>(selector);

/**
 * Returns handlers for what contains the elements of the selector. They call `act` when a finger has rested on one of them and
 * is lifted. They wait for the finger: the browser closes a popover that opens under one.
 */
export function useLongPress(selector: string, act: (element: HTMLElement) => void) {
  return useMemo(() => {
    let start: { readonly x: number; readonly y: number; readonly at: number } | undefined;
    let isPressed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isTouch = (event: Event) => (event as PointerEvent).pointerType === 'touch';
    return {
      onPointerDown: (event: PointerEvent) => {
        const isPress = isTouch(event) && event.isPrimary && elementOf(event, selector) !== null;
        start = isPress ? { x: event.clientX, y: event.clientY, at: event.timeStamp } : undefined;
        isPressed = false;
      },
      onPointerMove: ({ clientX, clientY }: PointerEvent) => {
        if (start && Math.hypot(clientX - start.x, clientY - start.y) > slackPx) start = undefined;
      },
      onPointerCancel: () => {
        start = undefined;
      },
      onPointerUp: (event: PointerEvent) => {
        isPressed = start !== undefined && event.timeStamp - start.at >= pressMs;
        start = undefined;
        const element = elementOf(event, selector);
        // The browser may still send a click, which moves the focus.
        if (isPressed && element) timer = setTimeout(() => act(element), clickMs);
      },
      // Neither the menu of the browser nor the link under the finger.
      onContextMenu: (event: Event) => {
        if (isTouch(event) && elementOf(event, selector)) event.preventDefault();
      },
      onClickCapture: (event: MouseEvent) => {
        const element = elementOf(event, selector);
        // A click of the keyboard has no detail.
        if (!isPressed || event.detail === 0 || !element) return;
        isPressed = false;
        event.preventDefault();
        event.stopPropagation();
        clearTimeout(timer);
        setTimeout(() => act(element));
      },
    };
  }, [selector, act]);
}
