/**
 * Builds everything that a release consists of, into `dist/`, and publishes nothing: npm packages, executables, the context of
 * the container image, the licenses of others, the bill of materials, the release notes and the checksums of all.
 *
 *   bun release/main.ts [--out folder] [target …]
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '../cli/usage-error.ts';
import { bundle, root } from './bundle.ts';
import { checksumFile, clearFolder } from './folder.ts';
import { packImageContext, uncommitted } from './image.ts';
import { releaseNotes } from './notes.ts';
import { noticesFile } from './notices.ts';
import { packCli, packSdk } from './packages.ts';
import { findRuntime, NoRuntime } from './runtime.ts';
import { billOfMaterials } from './sbom.ts';
import { chooseTargets, type Target, targets } from './targets.ts';
import { stampWorkspaces, version } from './version.ts';

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist') } },
  allowPositionals: true,
});
const dist = resolve(values.out);
const wanted = known(positionals);

/** Runtimes of other machines are kept between builds. */
const cache = join(root, 'node_modules/.cache/parley-runtimes');

const say = (line: string) => void process.stdout.write(`${line}\n`);

if (stampWorkspaces().length > 0) throw new Error('Versions differ. Run: bun release/version.ts');

clearFolder(dist);
/** The files of this release. The folder may have others. */
const made: string[] = [];
const staging = mkdtempSync(join(tmpdir(), 'parley-release-'));
try {
  say(`Parley ${version}`);
  const changed = uncommitted().length;
  if (changed > 0)
    say(`Not a commit: ${changed} ${changed === 1 ? 'file differs' : 'files differ'} from it. See: git status`);
  note(packSdk(dist));
  const { tarball, packages, notices } = await packCli(dist, staging);
  note(tarball);
  writeNamed(noticesFile, notices);
  for (const target of wanted) await buildExecutable(target);
  writeNamed(`parley-${version}.cdx.json`, billOfMaterials(packages));
  writeNamed(`parley-${version}-notes.md`, releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
  const image = `parley-${version}-image.tar.gz`;
  packImageContext(join(dist, image), { added: [join(dist, noticesFile)] });
  note(image);
  writeNamed(checksumFile, made.sort().map(checksumLine).join(''));
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/** Returns the targets with these names. A name that there is not ends the process before anything is written. */
function known(names: readonly string[]): readonly Target[] {
  try {
    return chooseTargets(names);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message} Targets: ${targets.map(({ name }) => name).join(', ')}.\n`);
    process.exit(2);
  }
}

async function buildExecutable(target: Target): Promise<void> {
  const name = `parley-${target.name}${target.suffix ?? ''}`;
  try {
    const { compileTarget, hasBytecode } = target;
    const runtime = { file: findRuntime(target, cache), target: compileTarget, hasBytecode };
    await bundle({ executable: join(dist, name), runtime });
    note(name);
  } catch (error) {
    if (!(error instanceof NoRuntime)) throw error;
    say(`Skipped ${name}: ${error.message}.`);
  }
}

function writeNamed(name: string, text: string): void {
  writeFileSync(join(dist, name), text);
  note(name);
}

function note(name: string): void {
  made.push(name);
  say(name);
}

/** A line as `sha256sum --check` reads it. */
function checksumLine(name: string): string {
  return `${createHash('sha256')
    .update(readFileSync(join(dist, name)))
    .digest('hex')}  ${name}\n`;
}
