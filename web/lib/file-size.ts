import { text } from '../text/text.ts';

const units = ['bytes', 'KB', 'MB', 'GB'] as const;

export function fileSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1_024)), units.length - 1);
  return text.attachments.size[units[power] ?? 'bytes'](bytes / 1_024 ** power);
}
