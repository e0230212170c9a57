import { bytesText } from '../bytes.ts';
import { counted } from '../counted.ts';

/** Returns `3 files (7, 8, 9)`. */
export const listed = (ids: readonly number[]): string => `${counted(ids.length, 'file')} (${ids.join(', ')})`;

/** Returns milliseconds as seconds with one decimal. */
export const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Returns `1,234 messages, 5 files, 3.4 MiB in 1.2 seconds`. */
export const amountText = (messages: number, files: number, bytes: number, ms: number): string =>
  `${counted(messages, 'message')}, ${counted(files, 'file')}, ${bytesText(bytes)} in ${seconds(ms)} seconds`;
