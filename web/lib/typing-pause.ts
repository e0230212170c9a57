/** The next key of somebody who types comes sooner, so no work waits longer for it. */
const keyMs = 300;

/** So soon after a key is on the screen, the most time is left until the next one. */
const freeMs = 8;

let typedAt = Number.NEGATIVE_INFINITY;
let freeUntil = 0;
const waiting = new Set<() => void>();

/** Lets one after the other begin, each when the last one is done. What is left waits for the next key. */
const letBegin = () => {
  const [begin] = waiting;
  if (!begin || performance.now() > freeUntil) return;
  begin();
  setTimeout(letBegin);
};

const shown = () => {
  freeUntil = performance.now() + freeMs;
  letBegin();
};

const typed = () => {
  typedAt = performance.now();
  requestAnimationFrame(() => setTimeout(shown));
};

export const watchKeys = (): void => addEventListener('input', typed, true);

/** Resolves at once. While somebody types, right after the last key or the next one is on the screen: no key need wait for it. */
export async function typingPause(): Promise<void> {
  const now = performance.now();
  if (now - typedAt > keyMs || (waiting.size === 0 && now < freeUntil)) return;
  await new Promise<void>((resolve) => {
    const begin = () => {
      waiting.delete(begin);
      resolve();
    };
    waiting.add(begin);
    setTimeout(begin, keyMs);
  });
}

/** Work that would hold up a key waits until nobody has typed for so long. */
const restMs = 1_000;

/** Does something long after so many milliseconds, as soon as nobody types. Returns what cancels it. */
export function afterTyping(work: () => void, ms: number): () => void {
  const check = () => {
    if (performance.now() - typedAt > restMs) work();
    else timer = setTimeout(check, restMs);
  };
  let timer = setTimeout(check, ms);
  return () => clearTimeout(timer);
}
