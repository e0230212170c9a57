import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, type Contents, root } from './bundle.ts';
import { noticesFile } from './notices.ts';
import { run } from './run.ts';
import { version } from './version.ts';

/** Packs a package into `folder` and returns the file name of the tarball. */
const pack = (from: string, folder: string): string =>
  run(['npm', 'pack', '--silent', '--pack-destination', folder], { cwd: from }).trim().split('\n').at(-1) ?? '';

/** Packs the SDK, which builds itself. */
export const packSdk = (folder: string): string => pack(join(root, 'sdk'), folder);

/**
 * Packs the command line with the server in it, and returns the file name of the tarball and what is in it. The package has one dependency, Bun: everything else is in its bundle, so what
 * was tested is what runs.
 */
export async function packCli(folder: string, staging: string): Promise<Contents & { readonly tarball: string }> {
  const own = JSON.parse(readFileSync(join(root, 'cli/package.json'), 'utf8'));
  const { dependencies, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(staging, { recursive: true });
  const contents = await bundle({ folder: join(staging, 'bundle') });
  writeFileSync(join(staging, noticesFile), contents.notices);
  for (const name of ['parley.mjs', 'bunfig.toml']) copyFileSync(join(root, 'cli', name), join(staging, name));
  cpSync(join(root, 'LICENSE'), join(staging, 'LICENSE'));
  cpSync(join(root, 'cli/README.md'), join(staging, 'README.md'));
  const published = {
    name: own.name,
    version,
    description: 'Parley, a self-hosted chat server: the server, its web client and its command line.',
    license: own.license,
    type: 'module',
    bin: own.bin,
    engines,
    files: ['bundle', 'parley.mjs', 'bunfig.toml', noticesFile],
    dependencies: { bun: dependencies.bun },
  };
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  return { ...contents, tarball: pack(staging, folder) };
}
