import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';
import { run } from './run.ts';
import type { Target } from './targets.ts';

/** The runtime cannot be had here. */
export class NoRuntime extends Error {}

/** Returns the file of the runtime of a target: the installed one, or one from the npm registry, which is kept in `cache`. */
export function findRuntime({ runtimePackage, suffix }: Target, cache: string): string {
  const file = `bin/bun${suffix ?? ''}`;
  const installed = join(root, 'node_modules', runtimePackage, file);
  if (existsSync(installed)) return installed;
  const folder = join(cache, runtimePackage.replace('/', '-'));
  const kept = join(folder, 'package', file);
  if (!existsSync(kept)) fetchPackage(runtimePackage, folder);
  if (!existsSync(kept)) throw new NoRuntime(`${runtimePackage} has no ${file}`);
  chmodSync(kept, 0o755);
  return kept;
}

function fetchPackage(name: string, folder: string): void {
  const { version, integrity } = locked(name);
  mkdirSync(folder, { recursive: true });
  let tarball: string;
  try {
    const options = ['--fetch-retries=0', '--fetch-timeout=120000', '--pack-destination', folder];
    tarball = join(folder, run(['npm', 'pack', '--silent', `${name}@${version}`, ...options]).trim());
  } catch {
    throw new NoRuntime(`${name}@${version} cannot be fetched from the npm registry`);
  }
  const [algorithm = '', expected] = integrity.split(/-(.*)/s);
  if (createHash(algorithm).update(readFileSync(tarball)).digest('base64') !== expected) {
    rmSync(folder, { recursive: true });
    throw new Error(`${name}@${version} differs from the checksum in package-lock.json`);
  }
  run(['tar', '-xzf', tarball, '-C', folder]);
  rmSync(tarball);
}

function locked(name: string): { readonly version: string; readonly integrity: string } {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return packages[`node_modules/${name}`];
}
