import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { root } from '../bundle.ts';
import { filterOf } from '../image.ts';
import { releaseNotes } from '../notes.ts';
import { run } from '../run.ts';
import { findRuntime, NoRuntime } from '../runtime.ts';
import { version } from '../version.ts';

const folder = temporaryFolder();
const target = `linux-${process.arch === 'arm64' ? 'arm64' : 'x64'}`;

beforeAll(() => {
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
    expect(readdirSync(folder).sort()).toEqual(
      [
        'SHA256SUMS',
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
    const child = Bun.spawnSync([join(path, 'node'), join(unpacked, 'parley.mjs'), 'user', 'list'], {
      env: { PATH: path, PARLEY_DATA: path },
      cwd: path,
    });
    expect({ code: child.exitCode, said: child.stderr.toString() }).toEqual({
      code: 1,
      said: `There is no Parley database in ${path} yet. Start the server once: parley serve\n`,
    });
  });

  test('has a package of the SDK', () => {
    expect(existsSync(join(unpack(`parley-chat-sdk-${version}.tgz`), 'dist/index.js'))).toBe(true);
  });

  test('lists the packages that are in it, and none that only the development needs', () => {
    const bill = JSON.parse(read(`parley-${version}.cdx.json`));
    const names = bill.components.map((component: { name: string }) => component.name);
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'parley', version } } });
    expect(names).toEqual(expect.arrayContaining(['hono', 'zod', 'preact', 'bun', '@parley-chat/cli']));
    expect(names).not.toContain('typescript');
  });

  test('has an image context with what the Dockerfile copies, and no tests', () => {
    const files = run(['tar', '-tzf', join(folder, `parley-${version}-image.tar.gz`)]).split('\n');
    const copied = [...readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').matchAll(/^COPY (?!--)(.+) \S+$/gm)];
    const sources = copied.flatMap(([, words = '']) => words.split(' '));
    expect(sources.length).toBeGreaterThan(5);
    for (const source of [...sources, 'deploy/Dockerfile']) {
      expect({ source, isThere: files.some((file) => file === source || file.startsWith(`${source}/`)) }).toEqual({
        source,
        isThere: true,
      });
    }
    expect(files.filter((file) => /(^|\/)test\/|^data\/|\.env$/.test(file))).toEqual([]);
  });
});

test('a runtime that the lockfile does not have is not fetched', () => {
  const target = { name: 'plan9', compileTarget: 'bun-plan9-x64', hasBytecode: false };
  const find = (runtimePackage: string) => () => findRuntime({ ...target, runtimePackage }, temporaryFolder());
  expect(find('@oven/bun-plan9-x64')).toThrow(NoRuntime);
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
