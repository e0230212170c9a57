import type { Answer } from './frame/evidence.ts';

/** What single faults judge by, as functions of what was seen. */

/** What came to pass before a server had stopped, and which calls were made meanwhile. */
export interface Stop {
  /** Of the answers, those from the moment of the signal to the end of the process. */
  readonly from: number;
  readonly to: number;
  readonly lastMessageId: number;
}

/** The sends that a stop cut off, and of these the messages that were there when the server had stopped: nobody was told of them. */
export function cutOffBy(
  stops: readonly Stop[],
  answers: readonly Answer[],
  messageOf: ReadonlyMap<string, number>,
): { readonly cutOff: number; readonly done: readonly number[] } {
  const ids = stops.flatMap(({ from, to, lastMessageId }) =>
    answers
      .slice(from, to)
      .filter(({ outcome, key }) => outcome === 'broken: stopping' && key !== undefined)
      .map(({ key = '' }) => ({ id: messageOf.get(key) ?? Number.POSITIVE_INFINITY, lastMessageId })),
  );
  return { cutOff: ids.length, done: ids.filter(({ id, lastMessageId }) => id <= lastMessageId).map(({ id }) => id) };
}

/** Statuses that blame the server and may nevertheless answer junk: to come again, or that nobody speaks this HTTP. */
const fairToJunk: ReadonlySet<string> = new Set(['503', '505']);

/** Whether an answer to junk is a fault of the server. */
export const isFault = (status: string): boolean => status.startsWith('5') && !fairToJunk.has(status);

/** By how much more than `most` something grew after its first time; what the first took may be needed again. */
export function growth(sizes: readonly number[], most: number): number | undefined {
  const [first = 0, last = 0] = [sizes[0], sizes.at(-1)];
  return last - first > most ? last - first : undefined;
}

/** Those who got nothing done since a moment. */
export const lockedOut = (
  userIds: readonly number[],
  lastSuccess: ReadonlyMap<number, number>,
  since: number,
): readonly number[] => userIds.filter((userId) => (lastSuccess.get(userId) ?? 0) <= since);
