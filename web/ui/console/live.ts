import { useEffect } from 'preact/hooks';

const pollMs = 2_000;

/**
 * Calls a function whenever the deliveries of a webhook, or of any without an id, may have changed. The stream does not tell, so
 * this asks again and again while the page is visible.
 */
export function useChanges(_webhookId: number | undefined, onChange: () => void): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') onChange();
    };
    const timer = setInterval(look, pollMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [onChange]);
}
