import type { QuietHours } from './rules.ts';

const channelOf = (userId: number): BroadcastChannel => new BroadcastChannel(`parley-quiet-hours-${userId}`);

/** Tells all tabs of this browser, this one too, that the user has changed the quiet hours. */
export function tellQuietHours(userId: number, hours: QuietHours | null): void {
  const channel = channelOf(userId);
  channel.postMessage(hours);
  channel.close();
}

export function followQuietHours(userId: number, changed: (hours: QuietHours | null) => void): void {
  channelOf(userId).onmessage = ({ data }: MessageEvent<QuietHours | null>) => changed(data);
}
