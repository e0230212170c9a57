import { pause } from '../harness/wait.ts';
import type { Traffic } from './traffic.ts';

/** Concurrent sends. */
const senders = 32;

export type Volume = ReturnType<typeof makeVolume>;

/**
 * Many short messages, at the pace of the server's lives. Half of a life's share is sent evenly; the rest comes in a burst
 * before its end, so that the kill hits a busy server. What was not sent by then is left to the next life.
 */
export function makeVolume(traffic: Traffic, count: number) {
  let [begun, acknowledged] = [0, 0];
  let current = { before: 0, share: 0, since: 0, ms: 0, burstAt: 0 };
  const allowed = () => {
    const { before, share, since, ms, burstAt } = current;
    const passed = performance.now() - since;
    return before + (passed >= burstAt ? share : Math.floor((share / 2) * (passed / ms)));
  };
  const sendAll = async (end: AbortSignal) => {
    while (begun < count && !end.aborted) {
      if (begun >= allowed()) await pause(5, end);
      else {
        await traffic.sendExtra(`volume ${begun++}`, end);
        acknowledged++;
      }
    }
  };
  return {
    acknowledged: () => acknowledged,
    isDone: () => acknowledged === count,
    /** Allows a further share over the next `ms`, and the whole of all earlier ones. */
    allow: (share: number, ms = 0, burstBeforeEndMs = 0): void => {
      const before = current.before + current.share;
      current = { before, share, since: performance.now(), ms, burstAt: Math.max(0, ms - burstBeforeEndMs) };
    },
    run: (end: AbortSignal) => Promise.all(Array.from({ length: senders }, () => sendAll(end))),
  };
}
