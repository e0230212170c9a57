import { useEffect, useRef, useState } from 'preact/hooks';

interface DropOptions {
  readonly isEnabled: boolean;
  /** True for the thread beside a chat: it takes what is dropped on it, and the chat takes the rest. */
  readonly isThread: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Takes the files that are dropped on the page. Returns whether some are held above the place where it takes them. */
export function useFileDrop({ isEnabled, isThread, onFiles }: DropOptions): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    if (!isEnabled) return undefined;
    // Each element on the way has its own pair of events.
    let depth = 0;
    const isHere = ({ target }: DragEvent) =>
      (target instanceof Element && target.closest('.thread-pane') !== null) === isThread;
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const on = {
      dragenter: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        depth++;
        setOver(isHere(event));
      },
      dragleave: (event: DragEvent) => {
        if (hasFiles(event) && --depth <= 0) setOver(false);
      },
      // Without this the browser would open the file instead of the page.
      dragover: (event: DragEvent) => {
        if (hasFiles(event)) event.preventDefault();
      },
      drop: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setOver(false);
        if (isHere(event) && !document.querySelector('dialog[open]')) take.current(filesIn(event.dataTransfer));
      },
    };
    const entries = Object.entries(on) as [keyof typeof on, (event: DragEvent) => void][];
    for (const [name, listener] of entries) addEventListener(name, listener);
    return () => {
      for (const [name, listener] of entries) removeEventListener(name, listener);
    };
  }, [isEnabled, isThread]);
  return isOver;
}

/** Returns the files of a drop. Folders are left out: a browser cannot read one as a file. */
function filesIn(transfer: DataTransfer | null): readonly File[] {
  return [...(transfer?.items ?? [])].flatMap((item) => {
    const file = item.kind === 'file' && !item.webkitGetAsEntry()?.isDirectory ? item.getAsFile() : null;
    return file ? [file] : [];
  });
}
