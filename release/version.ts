/**
 * Copies the version of the root package to all workspaces and to what they require of each other. `npm version` calls it, so
 * a version is set in one place.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';

interface Package {
  readonly name: string;
  version: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Record<string, string>;
}

const read = (path: string): Package => JSON.parse(readFileSync(path, 'utf8')) as Package;

export const { version, workspaces = [] } = read(join(root, 'package.json'));

export const workspaceFiles = workspaces.map((folder) => join(root, folder, 'package.json'));

/** Returns a package with the version, also where it requires another workspace. */
function stamp(given: Package, names: ReadonlySet<string>): Package {
  const required = Object.entries(given.dependencies ?? {});
  const dependencies = Object.fromEntries(required.map(([name, at]) => [name, names.has(name) ? version : at]));
  return { ...given, version, ...(given.dependencies && { dependencies }) };
}

/** Returns the workspaces whose text differs from what the version makes of it. */
export function stampWorkspaces(): { readonly file: string; readonly text: string }[] {
  const names = new Set(workspaceFiles.map((file) => read(file).name));
  return workspaceFiles
    .map((file) => ({ file, text: `${JSON.stringify(stamp(read(file), names), null, 2)}\n` }))
    .filter(({ file, text }) => text !== readFileSync(file, 'utf8'));
}

if (import.meta.main) for (const { file, text } of stampWorkspaces()) writeFileSync(file, text);
