import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { databaseFile } from '../store/data-folder/folder.ts';
import { keyFile } from '../store/data-folder/secret-key.ts';

/**
 * The list of what a restore moves from its staging folder into the data folder. It is written before the first move. A process that
 * ends before the database is in place leaves files and a key behind. The next restore recognizes them by this record.
 */
const placingSchema = z.object({
  /** The database that they belong to. */
  database: z.string(),
  /** Hashes of the key and of the names of all files. Null if there are none. */
  key: z.string().nullable(),
  files: z.string().nullable(),
});

const placingFile = (staging: string) => join(staging, 'placing.json');
const filesFolder = (folder: string) => join(folder, 'files');

const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

/** Identifies a database without revealing the credentials in its URL. */
export const databaseId = (url: string | undefined): string => (url === undefined ? 'sqlite' : hashOf(url));

/** Returns all files below the folder for files. */
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

export function forgetPlacing(staging: string): void {
  rmSync(placingFile(staging), { force: true });
}

/**
 * Moves what an interrupted restore left in the data folder back into its staging folder, which is deleted later. The caller
 * has locked the folder and knows that a PostgreSQL database is empty. If anything has changed since, the folder was used,
 * and everything stays.
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
    // The process ended while it wrote this record, before it moved anything.
    return undefined;
  }
}
