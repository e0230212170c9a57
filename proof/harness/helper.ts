import { writeSync } from 'node:fs';

/** The side of a helper process: its parent starts it as a `Child`. */

/** Writes a line of JSON. It has left the process on return, so the parent reads it even if the process is killed next. */
export function say(line: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error;
    }
  }
}

/** Returns the `input` of the `Child`. */
export const given = async <T>(): Promise<T> => (await Bun.stdin.json()) as T;
