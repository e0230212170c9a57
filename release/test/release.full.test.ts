import { beforeAll, describe, expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { surprisingFiles } from '../../cli/test/surprising-files.ts';
import { root } from '../bundle.ts';
import { filterOf, packImageContext, uncommitted } from '../image.ts';
import { releaseNotes } from '../notes.ts';
import { run } from '../run.ts';
import { findRuntime, NoRuntime } from '../runtime.ts';
import { targets } from '../targets.ts';
import { version } from '../version.ts';

const folder = temporaryFolder();
const target = `linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}`;

/** What a server that was started in the folder leaves there, and what an earlier release made. */
const [own, old] = [
  ['data/parley.sqlite', 'parley', 'parley-notes.md'],
  [`parley-0.0.1.cdx.json`, 'parley-windows-x64.exe'],
];

beforeAll(() => {
  mkdirSync(join(folder, 'data'));
  for (const name of [...own, ...old]) writeFileSync(join(folder, name), name);
  run([process.execPath, 'release/main.ts', '--out', folder, target]);
});

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** Unpacks an npm package and returns its folder. */
function unpack(name: string): string {
  const to = temporaryFolder();
  run(['tar', '-xzf', join(folder, name), '-C', to]);
  return join(to, 'package');
}

describe('a release', () => {
  test('has every part, with checksums that sha256sum accepts', () => {
    const made = read('SHA256SUMS')
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1] ?? '');
    expect(['SHA256SUMS', ...made].sort()).toEqual(
      [
        'SHA256SUMS',
        'THIRD-PARTY-NOTICES.txt',
        `parley-${version}-image.tar.gz`,
        `parley-${version}-notes.md`,
        `parley-${version}.cdx.json`,
        `parley-chat-cli-${version}.tgz`,
        `parley-chat-sdk-${version}.tgz`,
        `parley-${target}`,
      ].sort(),
    );
    expect(run(['sha256sum', '--check', 'SHA256SUMS'], { cwd: folder })).not.toContain('FAILED');
    expect(run([join(folder, `parley-${target}`), '--version'])).toBe(`${version}\n`);
  });

  test('removes the files of an earlier release from its folder, and nothing else', () => {
    expect(own.map((name) => read(name))).toEqual(own);
    expect(old.filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });

  test('has a package of the command line that runs without Bun on the PATH', () => {
    const unpacked = unpack(`parley-chat-cli-${version}.tgz`);
    const { name, dependencies } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    expect({ name, dependencies: Object.keys(dependencies) }).toEqual({
      name: '@parley-chat/cli',
      dependencies: ['bun'],
    });
    const readme = readFileSync(join(unpacked, 'README.md'), 'utf8');
    expect(readme).toContain(`npm i -g ${name}\nparley serve`);
    // The package has neither the pages nor the scripts of the repository.
    expect(readme).not.toMatch(/\]\((?!https?:)|npm (ci|start|run)|npx parley/);
    mkdirSync(join(unpacked, 'node_modules'));
    symlinkSync(join(root, 'node_modules/bun'), join(unpacked, 'node_modules/bun'));
    const path = temporaryFolder();
    symlinkSync(Bun.which('node') ?? '/nowhere', join(path, 'node'));
    surprisingFiles(path);
    const parley = (...words: string[]) => {
      const env = { PATH: path, HOME: path, PARLEY_DATA: path };
      const child = Bun.spawnSync([join(path, 'node'), join(unpacked, 'parley.mjs'), ...words], { env, cwd: path });
      return { code: child.exitCode, said: child.stderr.toString() };
    };
    expect(parley('user', 'list')).toEqual({
      code: 1,
      said: `There is no Parley database in ${path} yet. Start the server once: parley serve\n`,
    });
    expect(parley('status').said).toContain('http://127.0.0.1:8080');
  });

  test('has a package of the SDK', () => {
    expect(existsSync(join(unpack(`parley-chat-sdk-${version}.tgz`), 'dist/index.js'))).toBe(true);
  });

  test('lists the packages that are in it, and none that only the development needs', () => {
    const bill = JSON.parse(read(`parley-${version}.cdx.json`));
    const names = bill.components.map((component: { name: string }) => component.name);
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'parley', version } } });
    const needed = ['hono', 'zod', 'ajv', 'preact', 'highlight.js', 'bun', '@parley-chat/cli', '@parley/web'];
    expect(names).toEqual(expect.arrayContaining(needed));
    const unused = ['typescript', '@parley/proof', 'cors', 'body-parser', '@types/bun'];
    expect(names.filter((name: string) => unused.includes(name))).toEqual([]);
    const runtimes = names.filter((name: string) => name.startsWith('@oven/'));
    expect(runtimes.sort()).toEqual(targets.map(({ runtimePackage }) => runtimePackage).sort());
    const refs = new Set(bill.components.map((component: { 'bom-ref': string }) => component['bom-ref']));
    const pointed = bill.dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn);
    expect(pointed.filter((ref: string) => !refs.has(ref))).toEqual([]);
  });

  test('has the license of every package that is in it, in each of its parts', () => {
    const notices = read('THIRD-PARTY-NOTICES.txt');
    const { components } = JSON.parse(read(`parley-${version}.cdx.json`)) as { components: Record<string, string>[] };
    const others = components.filter(({ name = '' }) => !/^@(parley|parley-chat|oven)\//.test(name));
    expect(others.length).toBeGreaterThan(30);
    for (const { name, version } of others) expect(notices).toContain(`\n${name} ${version} (`);
    const license = readFileSync(join(root, 'node_modules/highlight.js/LICENSE'), 'utf8').trim();
    expect(notices).toContain(license);
    const unpacked = unpack(`parley-chat-cli-${version}.tgz`);
    expect(readFileSync(join(unpacked, 'THIRD-PARTY-NOTICES.txt'), 'utf8')).toBe(notices);
    const image = join(folder, `parley-${version}-image.tar.gz`);
    expect(run(['tar', '-xOzf', image, 'THIRD-PARTY-NOTICES.txt'])).toBe(notices);
    for (const program of [
      [join(folder, `parley-${target}`)],
      [process.execPath, join(unpacked, 'bundle/cli/main.js')],
    ]) {
      expect(run([...program, 'licenses'])).toBe(notices);
    }
  });

  test('has an image context with what the Dockerfile copies, and no tests', () => {
    const files = run(['tar', '-tzf', join(folder, `parley-${version}-image.tar.gz`)]).split('\n');
    const copied = [...readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').matchAll(/^COPY (?!--)(.+) \S+$/gm)];
    const sources = copied.flatMap(([, words = '']) => words.split(' '));
    expect(sources.length).toBeGreaterThan(5);
    const isOf = (source: string, file: string) => file.startsWith(`${source}/`) || new Bun.Glob(source).match(file);
    for (const source of [...sources, 'deploy/Dockerfile']) {
      expect({ source, isThere: files.some((file) => isOf(source, file)) }).toEqual({
        source,
        isThere: true,
      });
    }
    expect(files.filter((file) => /(^|\/)test\/|^data\/|\.env$/.test(file))).toEqual([]);
  });
});

test('a target that there is not ends a release before it touches anything', () => {
  const out = temporaryFolder();
  writeFileSync(join(out, 'SHA256SUMS'), '');
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'release/main.ts', '--out', out, 'linux-x46'], {
    cwd: root,
  });
  expect({ exitCode, said: stderr.toString() }).toEqual({
    exitCode: 2,
    said: expect.stringContaining('There is no target "linux-x46". Did you mean linux-x64?'),
  });
  expect(readdirSync(out)).toEqual(['SHA256SUMS']);
});

test('a runtime that the lockfile does not have is not fetched', () => {
  const target = { name: 'plan9', compileTarget: 'bun-plan9-x64', hasBytecode: false };
  const find = (runtimePackage: string) => () => findRuntime({ ...target, runtimePackage }, temporaryFolder());
  expect(find('@oven/bun-plan9-x64')).toThrow(NoRuntime);
});

test('the image context has only files that git tracks, and none that is gone', () => {
  const from = temporaryFolder();
  const write = (name: string) => writeFileSync(join(from, name), name);
  for (const made of ['deploy', 'server']) mkdirSync(join(from, made));
  for (const name of ['deploy/Dockerfile', 'server/a b.ts', 'server/gone.ts', 'server/.env']) write(name);
  copyFileSync(join(root, '.dockerignore'), join(from, '.dockerignore'));
  run(['git', 'init', '--quiet'], { cwd: from });
  run(['git', 'add', '.'], { cwd: from });
  for (const name of ['server/untracked.ts', 'server/.env.local']) write(name);
  rmSync(join(from, 'server/gone.ts'));
  const file = join(temporaryFolder(), 'image.tar.gz');
  packImageContext(file, { from });
  expect(run(['tar', '-tzf', file]).trim().split('\n').sort()).toEqual(['deploy/Dockerfile', 'server/a b.ts']);
  expect(uncommitted(from)).toContain('?? server/untracked.ts');
});

test('the last line of .dockerignore that matches decides', () => {
  const isNeeded = filterOf('# all\n*\n!server\nserver/secret\n**/test\n**/*.test.ts\n');
  expect(
    ['a.ts', 'server/a.ts', 'server/secret/a', 'server/x/test/a.ts', 'server/a.test.ts'].map((path) => isNeeded(path)),
  ).toEqual([false, true, false, false, false]);
});

test('release notes are those of the version, or the unreleased ones', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- new\n\n## 1.1.0 - 2026-01-02\n\n- [old](docs/a.md#b), [web](https://a.b)\n\n## 1.0.0\n\n- first\n';
  expect(releaseNotes(changelog, '1.1.0')).toBe('# Parley 1.1.0\n\n- old (docs/a.md), [web](https://a.b)\n');
  expect(releaseNotes(changelog, '2.0.0')).toBe('# Parley 2.0.0\n\n- new\n');
});
