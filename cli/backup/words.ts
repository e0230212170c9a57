import { bytesText } from '../bytes.ts';

const counted = (count: number, one: string) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;

/** What fits one or several. */
export const number = (count: number, one: string, several: string): string => (count === 1 ? one : several);

export const filesText = (count: number): string => counted(count, 'file');

/** Seconds since a moment of the steady clock, with one digit behind the point. */
export const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;

export interface Amount {
  readonly messages: number;
  readonly files: number;
  readonly bytes: number;
  /** When the work began, by the steady clock. */
  readonly since: number;
}

/** `1,234 messages, 5 files, 3.4 MiB in 1.2 seconds`. */
export const amountOf = ({ messages, files, bytes, since }: Amount): string =>
  `${counted(messages, 'message')}, ${filesText(files)}, ${bytesText(bytes)} in ${seconds(since)} seconds`;
