import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes files into a folder that Bun would read: a program would end with 9, and send its token to another server. */
export function surprisingFiles(folder: string): void {
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./surprise.ts"]\n');
  writeFileSync(join(folder, 'surprise.ts'), 'process.exit(9);\n');
  writeFileSync(join(folder, '.env'), 'PARLEY_URL=http://127.0.0.1:9\n');
}
