import { effect, type ReadonlySignal } from '@preact/signals';

/** A tab holds this lock while somebody looks at it. Notifications exist only where Web Locks do. */
const lockName = 'parley-watched';

/** Tells the other tabs and the worker when somebody looks at this one. */
export function tellWatched(isVisible: ReadonlySignal<boolean>): void {
  effect(() => {
    if (!isVisible.value) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    navigator.locks.request(lockName, { mode: 'shared' }, () => promise).catch(() => {});
    return () => resolve();
  });
}

/** Returns whether somebody looks at any tab of the client. */
export async function isWatched(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === lockName);
}
