import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** A package whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly folder: string;
  /** A workspace of this repository. */
  readonly isOwn: boolean;
}

/** Returns the files whose code is in the output of the bundler: what it left out as unused is not. */
export const sourcesOf = (metafile: Bun.BuildMetafile | undefined): string[] =>
  Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => resolve(path)),
  );

/** Returns the packages of files in the repository `root`, by name. The guides, which the web client shows, are in none. */
export function packagesOf(sources: readonly string[], root: string): BundledPackage[] {
  const folders = new Set(sources.flatMap((path) => folderOf(relative(root, path)) ?? []));
  return [...folders]
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => read(root, folder))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A package is in the innermost node_modules, or is a workspace. Virtual modules of the bundler are in neither. */
const folderOf = (path: string): string | undefined =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? /^(?!\.\.)[^/:]+(?=\/)/.exec(path)?.[0];

function read(root: string, folder: string): BundledPackage {
  const { name, version, license = 'unknown' } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return { name, version, license, folder: join(root, folder), isOwn: !folder.includes('node_modules') };
}
