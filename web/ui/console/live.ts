import { effect } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { useSession } from '../context.ts';

/** Ages on the page grow without a signal. */
const liveMs = 30_000;
/** While the stream is lost, nobody tells. */
const lostMs = 5_000;
/** All webhooks together change often, and cost more to load than one. */
const gatherMs = 1_000;

/**
 * Calls a function whenever the deliveries of a webhook, or of any without an id, have changed: when the stream says so, when it
 * is back, and when somebody looks at the page again.
 */
export function useChanges(webhookId: number | undefined, onChange: () => void): void {
  const { store } = useSession();
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') onChange();
    };
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const lookSoon = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        look();
      }, gatherMs);
    };
    const seen = store.changedDeliveries.peek();
    const unsubscribe = store.changedDeliveries.subscribe((change) => {
      if (change === undefined || change === seen) return;
      if (webhookId === undefined) lookSoon();
      else if (change.webhook_id === webhookId) look();
    });
    let timer: ReturnType<typeof setInterval> | undefined;
    let wasLive = true;
    const stop = effect(() => {
      const isLive = store.connection.value === 'live';
      clearInterval(timer);
      timer = setInterval(look, isLive ? liveMs : lostMs);
      // Signals of the time between are lost.
      if (isLive && !wasLive) look();
      wasLive = isLive;
    });
    document.addEventListener('visibilitychange', look);
    return () => {
      unsubscribe();
      stop();
      clearInterval(timer);
      clearTimeout(gathering);
      document.removeEventListener('visibilitychange', look);
    };
  }, [store, webhookId, onChange]);
}

/**
 * Returns a function to call before each load. What that returns says, once there is a result, whether it may be shown: not if
 * a later load had its result before.
 */
export function useOrder(): () => () => boolean {
  const order = useRef({ last: 0, shown: 0 });
  return useCallback(() => {
    const turn = ++order.current.last;
    return () => {
      const isNewer = turn > order.current.shown;
      if (isNewer) order.current.shown = turn;
      return isNewer;
    };
  }, []);
}
