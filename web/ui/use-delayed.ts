import { useEffect, useState } from 'preact/hooks';

/** The server is asked once nobody has typed for so long. */
const searchDelayMs = 150;

/** Returns the words once nobody types any more. */
export function useDelayed(words: string): string {
  const [delayed, setDelayed] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(words), words === '' ? 0 : searchDelayMs);
    return () => clearTimeout(timer);
  }, [words]);
  return delayed;
}
