import type { Answer } from './evidence.ts';

/** Judgements of single faults. */

/** A stop of a server, and what was there when the process had ended. */
export interface Stop {
  /** The range of the responses from the signal to the end of the process. */
  readonly from: number;
  readonly to: number;
  readonly lastMessageId: number;
}

/** Returns how many sends a stop cut off, and the messages of those that took effect nevertheless. */
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

/** Fair responses to junk: retry later, or an unknown version of HTTP. */
const fairToJunk: ReadonlySet<string> = new Set(['503', '505']);

/** Returns whether a response to junk is a fault of the server. */
export const isFault = (status: string): boolean => status.startsWith('5') && !fairToJunk.has(status);

/** Returns the growth since the first size if it exceeds `max`. The first flood may take what later ones need again. */
export function growth(sizes: readonly number[], max: number): number | undefined {
  const [first = 0, last = 0] = [sizes[0], sizes.at(-1)];
  return last - first > max ? last - first : undefined;
}

/** Returns the users without a successful call since a moment. */
export const lockedOut = (
  userIds: readonly number[],
  lastSuccess: ReadonlyMap<number, number>,
  since: number,
): readonly number[] => userIds.filter((userId) => (lastSuccess.get(userId) ?? 0) <= since);
