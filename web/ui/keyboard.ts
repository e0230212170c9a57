/** Returns whether there is a keyboard besides that of the screen. On a touch screen Enter is a new line. */
export const hasKeyboard = (): boolean => !matchMedia('(pointer: coarse)').matches;

/**
 * Makes room for the keyboard of a phone in browsers that put it over the page. Those that make the page smaller instead need
 * nothing: then all of it is shown.
 */
export function makeRoomForKeyboard(): void {
  const shown = window.visualViewport;
  if (!shown) return;
  const fit = () => {
    // Two fingers that enlarge the page make less of it shown, too.
    const coveredPx = shown.scale > 1 ? 0 : Math.max(0, Math.round(innerHeight - shown.height));
    document.documentElement.style.setProperty('--keyboard', `${coveredPx}px`);
    // The browser has moved the page so that the field is shown. There is room for it now.
    if (coveredPx > 0) scrollTo(0, 0);
  };
  shown.addEventListener('resize', fit);
}
