import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { databaseFile } from '../store/folder.ts';
import { keyFile } from '../store/secret-key.ts';

/**
 * What a restore is about to move out of its staging folder into the data folder, written down there before it does: a process that
 * is ended between that and the database leaves files and a key behind, and the next restore has to know them for what they are.
 */
const placingSchema = z.object({
  /** Which database they belong to. */
  database: z.string(),
  /** The hash of the key, and of the names of all files; null where there are none. */
  key: z.string().nullable(),
  files: z.string().nullable(),
});

const placingFile = (staging: string) => join(staging, 'placing.json');
const filesFolder = (folder: string) => join(folder, 'files');

const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

/** A database as it can be told from others, without what its address keeps secret. */
export const nameOfDatabase = (url: string | undefined): string => (url === undefined ? 'sqlite' : hashOf(url));

/** Every file in the folder for files, below that. */
export function filesIn(folder: string): string[] {
  const within = filesFolder(folder);
  if (!existsSync(within)) return [];
  if (!statSync(within).isDirectory()) return [within];
  const found = readdirSync(within, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  return found.map((entry) => join(entry.parentPath, entry.name));
}

const hashOfKey = (folder: string) =>
  existsSync(keyFile(folder)) ? hashOf(readFileSync(keyFile(folder), 'utf8')) : null;

function hashOfFiles(folder: string): string | null {
  if (!existsSync(filesFolder(folder))) return null;
  const names = filesIn(folder).map((path) => path.slice(folder.length));
  return hashOf(names.sort().join('\n'));
}

export function notePlacing(staging: string, database: string): void {
  const placing = { database, key: hashOfKey(staging), files: hashOfFiles(staging) };
  writeFileSync(placingFile(staging), JSON.stringify(placing), { mode: 0o600, flush: true });
}

/** Everything is in its place. */
export function forgetPlacing(staging: string): void {
  rmSync(placingFile(staging), { force: true });
}

/**
 * Takes what an interrupted restore has left in a data folder back into its staging folder, which is removed as a whole. The folder is
 * locked, and its database, where that is PostgreSQL, is known to be empty. Where anything is not as that restore has put it, somebody
 * has used it since, and all of it stays.
 */
export function takeBack(folder: string, staging: string, database: string): void {
  const placing = readPlacing(staging);
  if (placing?.database !== database || existsSync(databaseFile(folder))) return;
  const placed = [
    { pathIn: filesFolder, hashIn: hashOfFiles, hash: placing.files },
    { pathIn: keyFile, hashIn: hashOfKey, hash: placing.key },
  ].filter(({ pathIn, hash }) => hash !== null && existsSync(pathIn(folder)) && !existsSync(pathIn(staging)));
  if (!placed.every(({ hashIn, hash }) => hashIn(folder) === hash)) return;
  for (const { pathIn } of placed) renameSync(pathIn(folder), pathIn(staging));
}

function readPlacing(staging: string): z.infer<typeof placingSchema> | undefined {
  if (!existsSync(placingFile(staging))) return undefined;
  try {
    return placingSchema.parse(JSON.parse(readFileSync(placingFile(staging), 'utf8')));
  } catch {
    // It was ended while it wrote this, and so before it placed anything.
    return undefined;
  }
}
