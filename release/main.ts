/**
 * Builds everything that a release consists of, into `dist/`, and publishes nothing: npm packages, executables, the context of
 * the container image, the bill of materials, the release notes and the checksums of all.
 *
 *   bun release/main.ts [--out folder] [target …]
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle, root } from './bundle.ts';
import { packImageContext } from './image.ts';
import { releaseNotes } from './notes.ts';
import { packCli, packSdk } from './packages.ts';
import { findRuntime, NoRuntime } from './runtime.ts';
import { billOfMaterials } from './sbom.ts';
import { type Target, targets } from './targets.ts';
import { stampWorkspaces, version } from './version.ts';

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist') } },
  allowPositionals: true,
});
const dist = resolve(values.out);
const wanted = positionals.length === 0 ? targets : targets.filter(({ name }) => positionals.includes(name));

/** Runtimes of other machines are kept between builds. */
const cache = join(root, 'node_modules/.cache/parley-runtimes');

const say = (line: string) => void process.stdout.write(`${line}\n`);

if (stampWorkspaces().length > 0) throw new Error('Versions differ. Run: bun release/version.ts');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'parley-release-'));
try {
  say(`Parley ${version}`);
  say(packSdk(dist));
  say(await packCli(dist, staging));
  for (const target of wanted) await buildExecutable(target);
  writeNamed(`parley-${version}.cdx.json`, billOfMaterials());
  writeNamed(`parley-${version}-notes.md`, releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
  const image = `parley-${version}-image.tar.gz`;
  packImageContext(join(dist, image));
  say(image);
  writeNamed('SHA256SUMS', readdirSync(dist).sort().map(checksumLine).join(''));
} finally {
  rmSync(staging, { recursive: true, force: true });
}

async function buildExecutable(target: Target): Promise<void> {
  const name = `parley-${target.name}${target.suffix ?? ''}`;
  try {
    const { compileTarget, hasBytecode } = target;
    const runtime = { file: findRuntime(target, cache), target: compileTarget, hasBytecode };
    await bundle({ executable: join(dist, name), runtime });
    say(name);
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error;
    say(`Skipped ${name}: ${error.message}.`);
  }
}

function writeNamed(name: string, text: string): void {
  writeFileSync(join(dist, name), text);
  say(name);
}

/** A line as `sha256sum --check` reads it. */
function checksumLine(name: string): string {
  return `${createHash('sha256')
    .update(readFileSync(join(dist, name)))
    .digest('hex')}  ${name}\n`;
}
