/** Somebody who types presses the next key sooner. */
const keyMs = 150;

/** However fast somebody types, the pause is over by then. */
const maxMs = 250;

let pressedAt = Number.NEGATIVE_INFINITY;

const pressed = () => {
  pressedAt = performance.now();
};

export function watchKeys(): void {
  for (const type of ['keydown', 'input']) addEventListener(type, pressed, { capture: true, passive: true });
}

/** Resolves at once, but while somebody types, only in the pause after a key is on the screen: the next one need not wait. */
export async function typingPause(): Promise<void> {
  if (performance.now() - pressedAt > keyMs) return;
  await new Promise<unknown>((resolve) => {
    // Not every browser tells when it is idle.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(resolve, { timeout: maxMs });
    else setTimeout(resolve, keyMs / 3);
  });
}

/** Work that would hold up a key waits until nobody has typed for so long. */
const restMs = 1_000;

/** Does something long as soon as nobody types. */
export function afterTyping(work: () => void): void {
  if (performance.now() - pressedAt > restMs) work();
  else setTimeout(() => afterTyping(work), restMs);
}
