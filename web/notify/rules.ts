import type { QuietHours } from '@parley-chat/sdk/operations.ts';
import { type ChatRecord, isMuted } from '../store/records.ts';

export type { QuietHours };

/** Returns whether a message of somebody else notifies. The server decides about pushes by the same rules. */
export function notifies(
  chat: Pick<ChatRecord, 'notify' | 'muted_until'>,
  isMention: boolean,
  quiet: QuietHours | null,
  now: number,
): boolean {
  if (isMuted(chat, now)) return false;
  if (chat.notify === 'mentions' && !isMention) return false;
  return quiet === null || !isQuiet(quiet, now);
}

/** Returns whether a time is within the quiet hours, which include `from` and exclude `to`. */
export function isQuiet({ from, to, time_zone }: QuietHours, now: number): boolean {
  const options = { timeZone: time_zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat('en-GB', options).format(now);
  return from <= to ? from <= clock && clock < to : from <= clock || clock < to;
}
