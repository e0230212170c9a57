import { writeSync } from 'node:fs';

/** For an assistant: what it says has left the process when this returns, and is heard even if the process is killed next. */
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

/** What an assistant was given. */
export const given = <T>(): T => JSON.parse(process.argv[2] ?? 'null') as T;
