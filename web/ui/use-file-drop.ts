import { useEffect, useRef, useState } from 'preact/hooks';

/** Takes the files that are dropped anywhere on the page. Returns whether some are held above it. */
export function useFileDrop(isEnabled: boolean, onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    if (!isEnabled) return undefined;
    // Each element on the way has its own pair of events.
    let depth = 0;
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const on = {
      dragenter: (event: DragEvent) => {
        if (!hasFiles(event)) return;
        depth++;
        setOver(true);
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
        if (!document.querySelector('dialog[open]')) take.current(filesIn(event.dataTransfer));
      },
    };
    const entries = Object.entries(on) as [keyof typeof on, (event: DragEvent) => void][];
    for (const [name, listener] of entries) addEventListener(name, listener);
    return () => {
      for (const [name, listener] of entries) removeEventListener(name, listener);
    };
  }, [isEnabled]);
  return isOver;
}

/** Returns the files of a drop. Folders are left out: a browser cannot read one as a file. */
function filesIn(transfer: DataTransfer | null): readonly File[] {
  return [...(transfer?.items ?? [])].flatMap((item) => {
    const file = item.kind === 'file' && !item.webkitGetAsEntry()?.isDirectory ? item.getAsFile() : null;
    return file ? [file] : [];
  });
}
