import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { noticesFile } from './notices.ts';
import { targets } from './targets.ts';

export const checksumFile = 'SHA256SUMS';

const executables = targets.map(({ name, suffix = '' }) => `parley-${name}${suffix}`);
const named = /^parley-(?:\d[\w.+-]*(?:\.cdx\.json|-notes\.md|-image\.tar\.gz)|chat-(?:cli|sdk)-\d[\w.+-]*\.tgz)$/;

const isOfRelease = (name: string): boolean =>
  [checksumFile, noticesFile, ...executables].includes(name) || named.test(name);

/**
 * Makes the folder of a release, and removes the files of an earlier one from it. Everything else stays: somebody may have
 * started `dist/parley`, which keeps its data beside it, or given a folder with other files.
 */
export function clearFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && isOfRelease(entry.name)) rmSync(join(folder, entry.name));
  }
}
