/** @jsxImportSource preact */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { EmptyState } from './empty-state.tsx';

/** Loads the parts of the client that are still missing, so that they open at once, and also without a connection. */
export function loadParts(): void {
  // Those that fail are loaded again when they are shown.
  for (const load of loads.splice(0)) load().catch(() => {});
}

const loads: (() => Promise<unknown>)[] = [];

/**
 * Returns a part that is loaded when it is first shown, or by `loadParts` unless it is rare. Its styles must be in the first
 * stylesheet: nothing else loads them.
 * The parts of an old version are gone once the server has a new one, so the way out of a failure is to load the page.
 */
export function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Failed: ComponentType<P> = FailedView,
  isRare = false,
): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined;
  const loadPart = async () => {
    Loaded = await load();
  };
  if (!isRare) loads.push(loadPart);
  return function Later(props: P) {
    /** Undefined while it loads. */
    const [isLoaded, setLoaded] = useState(Loaded && true);
    useEffect(() => {
      // It may have been loaded since it was rendered. Then this only renders it.
      loadPart().then(
        () => setLoaded(true),
        () => setLoaded(false),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return isLoaded === false ? <Failed {...props} /> : null;
  };
}

function FailedView() {
  const reload = (
    <button type="button" class="button" onClick={() => location.reload()}>
      {text.sidebar.reload}
    </button>
  );
  return (
    <EmptyState icon="retry" level={1} title={text.later.failed} actions={reload}>
      {text.later.failedHint}
    </EmptyState>
  );
}

/** Instead of a window that could not be loaded. */
export const FailedDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={text.later.failed} onClose={onClose}>
    <p>{text.later.failedHint}</p>
  </Dialog>
);
