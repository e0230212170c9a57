import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dir, '../..');
const files = [
  ...new Bun.Glob('{contract,server,sdk,cli,web,proof,docs,examples,release}/**/*.{ts,tsx}').scanSync(root),
]
  .filter((file) => !/(^|\/)(node_modules|test)\/|\.d\.ts$/.test(file))
  .sort();
const sourceOf = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8').replace(/^#!.*/, '')]));

/** Where a file belongs: a folder of the server, a file right in it, a proof tool, or another workspace. */
const layerOf = (file: string) => {
  const [workspace = '', part = ''] = file.split('/');
  if (file.startsWith('server/files/storage/')) return 'files/storage';
  if (file.startsWith('web/text/shared/')) return 'web/text/shared';
  return workspace === 'server' ? part : workspace === 'proof' ? `proof/${part}` : workspace;
};

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };
const statement = /^\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;

/** What a file imports at run time, and with types: the transpiler drops those that are only types. */
function importsOf(file: string): { runtime: string[]; all: string[] } {
  const source = sourceOf.get(file) ?? '';
  const runtime = transpilers[file.endsWith('x') ? 'tsx' : 'ts'].scanImports(source).map((i) => resolve(file, i.path));
  const written = [...source.matchAll(statement)].map((match) => resolve(file, match[1] ?? ''));
  return { runtime, all: [...new Set([...runtime, ...written])] };
}

/** A path from the root for what is ours, the name for what is not. */
function resolve(from: string, path: string): string {
  if (path.startsWith('.')) return relative(root, join(root, dirname(from), path));
  const [, workspace, inner] = /^@parley(?:-chat)?\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
  if (workspace === undefined) return path;
  return join(workspace, (inner ?? 'index').replace(/(?<!\.tsx?|\.json)$/, '.ts'));
}

/** A guide is text, not code. */
const isOurs = (path: string) => /^(contract|server|sdk|cli|web|proof|docs|examples|release)\/.*(?<!\.md)$/.test(path);

/** For each layer, the layers that it may import. What is not named here may be imported by the layers that say `all`. */
const may: Record<string, readonly string[] | 'all'> = {
  contract: ['contract'],
  lib: ['lib'],
  domain: ['contract', 'domain', 'lib'],
  store: ['contract', 'domain', 'store', 'lib'],
  'files/storage': ['contract', 'domain', 'files/storage', 'lib'],
  files: ['contract', 'domain', 'store', 'files/storage', 'files', 'lib'],
  bus: ['bus', 'lib'],
  observe: ['contract', 'observe'],
  auth: ['contract', 'domain', 'store', 'auth', 'lib'],
  backup: ['contract', 'domain', 'store', 'files/storage', 'backup', 'lib'],
  log: ['contract', 'domain', 'store', 'observe', 'log', 'lib'],
  live: ['contract', 'domain', 'store', 'observe', 'log', 'live', 'lib'],
  search: ['contract', 'domain', 'store', 'log', 'search', 'lib'],
  webhooks: ['contract', 'domain', 'store', 'observe', 'log', 'webhooks', 'lib'],
  push: ['contract', 'domain', 'store', 'observe', 'log', 'webhooks', 'push', 'lib'],
  operations: ['contract', 'domain', 'store', 'auth', 'files/storage', 'files', 'operations', 'lib'],
  http: ['contract', 'domain', 'auth', 'files', 'operations', 'observe', 'http', 'lib'],
  pages: ['contract', 'domain', 'store', 'auth', 'operations', 'http', 'pages', 'lib', 'web/text/shared'],
  'config.ts': ['files/storage', 'bus', 'contract', 'domain', 'auth', 'http', 'observe', 'store', 'lib'],
  compose: 'all',
  'compose.ts': 'all',
  'main.ts': ['files/storage', 'compose.ts', 'config.ts', 'store', 'lib'],
  sdk: ['sdk'],
  cli: 'all',
  web: ['sdk', 'web', 'web/text/shared'],
  'web/text/shared': ['web/text/shared'],
  'proof/harness': 'all',
  'proof/bench': 'all',
  'proof/chaos': 'all',
  'proof/soak': 'all',
  'proof/fuzz': 'all',
  'proof/clients': 'all',
  'proof/torture': 'all',
  'proof/feel': 'all',
  docs: 'all',
  release: 'all',
  examples: ['sdk', 'examples'],
};

/** The groups of files that import each other at run time, directly or through others. */
function importCycles(): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  /** Tarjan's algorithm: returns the earliest file on the stack that this one leads back to. */
  const visit = (file: string): number => {
    const own = order.size;
    let earliest = own;
    order.set(file, own);
    stack.push(file);
    for (const next of importsOf(file).runtime.filter((path) => sourceOf.has(path))) {
      const seen = order.get(next);
      if (seen === undefined) earliest = Math.min(earliest, visit(next));
      else if (stack.includes(next)) earliest = Math.min(earliest, seen);
    }
    if (earliest === own) {
      const group = stack.splice(stack.lastIndexOf(file));
      if (group.length > 1) cycles.push(group.sort());
    }
    return earliest;
  };
  for (const file of files) if (!order.has(file)) visit(file);
  return cycles;
}

describe('imports point one way', () => {
  test('the reader of imports sees those of values, of types and of both', () => {
    expect(importsOf('server/http/pipeline.ts').all).toContain('server/observe/log.ts');
    expect(importsOf('server/http/pipeline.ts').runtime).not.toContain('server/observe/log.ts');
    expect(importsOf('server/http/api.ts').runtime).toContain('contract/index.ts');
    expect(importsOf('server/store/engine/open.ts').runtime).toContain('server/store/engine/sqlite/engine.ts');
  });

  test('every file belongs to a layer with a rule', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => may[layerOf(file)] === undefined)).toEqual([]);
  });

  test('no layer imports one that it must not know', () => {
    const wrong = files.flatMap((file) => {
      const allowed = may[layerOf(file)] ?? [];
      if (allowed === 'all') return [];
      const ours = importsOf(file).all.filter((path) => isOurs(path) && path !== 'server/package.json');
      return ours.filter((path) => !allowed.includes(layerOf(path))).map((path) => `${file} imports ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  test('no file imports itself through others', () => {
    expect(importCycles()).toEqual([]);
  });

  test('the proof tools share their harness, and import none of each other', () => {
    const isTool = (path: string) => path.startsWith('proof/') && layerOf(path) !== 'proof/harness';
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .all.filter((path) => file.startsWith('proof/') && isTool(path) && layerOf(path) !== layerOf(file))
        .map((path) => `${file} imports ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  test('what is imported of ours is there', () => {
    const missing = files.flatMap((file) =>
      importsOf(file)
        .all.filter(isOurs)
        .filter((path) => !Bun.file(join(root, path)).size)
        .map((path) => `${file} imports ${path}`),
    );
    expect(missing).toEqual([]);
  });

  test('http knows operations as types, and their results', () => {
    const used = files
      .filter((file) => layerOf(file) === 'http')
      .flatMap((file) => importsOf(file).runtime.filter((path) => layerOf(path) === 'operations'));
    expect([...new Set(used)]).toEqual(['server/operations/results.ts']);
  });

  test('one file alone knows the two engines', () => {
    const engines = ['server/store/engine/sqlite/engine.ts', 'server/store/engine/postgres.ts'];
    const knowing = files.filter((file) => importsOf(file).all.some((path) => engines.includes(path)));
    expect(knowing).toEqual(['server/store/engine/open.ts']);
  });

  test('only two files open the store: one for the server, one as a guest for the command line', () => {
    const opening = files.filter(
      (file) => file.startsWith('server/') && importsOf(file).runtime.includes('server/store/engine/open.ts'),
    );
    expect(opening.sort()).toEqual(['server/compose/core.ts', 'server/compose/tools.ts']);
  });

  test('databases and the web framework stay where they belong', () => {
    const users = (name: RegExp) =>
      new Set(
        files.filter((f) => f.startsWith('server/') && importsOf(f).runtime.some((p) => name.test(p))).map(layerOf),
      );
    expect(users(/^bun:sqlite$/)).toEqual(new Set(['store']));
    expect(users(/^hono(\/|$)/)).toEqual(new Set(['http', 'pages']));
    expect(users(/^@node-oauth\//)).toEqual(new Set(['auth']));
  });
});

describe('time, randomness and settings come in from outside', () => {
  const code = (file: string) => (sourceOf.get(file) ?? '').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const mentioning = (pattern: RegExp, among: (file: string) => boolean) =>
    files.filter((file) => among(file) && pattern.test(code(file)));

  test('inner layers ask neither the clock nor chance', () => {
    const inner = (file: string) =>
      file.startsWith('contract/') ||
      [
        'domain',
        'operations',
        'store',
        'http',
        'auth',
        'log',
        'live',
        'search',
        'webhooks',
        'pages',
        'backup',
      ].includes(layerOf(file));
    const pattern =
      /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)|\bMath\.random\b|\bcrypto\.|\brandomBytes\b|\brandomUUID\b|\bBun\.(nanoseconds|randomUUIDv7)\b/;
    expect(mentioning(pattern, inner)).toEqual([]);
  });

  test('the monotonic clock comes in from outside too', () => {
    const using = mentioning(/\bperformance\.now\b/, (file) => file.startsWith('server/'));
    // The last two run before a server has a runtime.
    const sources = [
      'server/compose/runtime.ts',
      'server/lib/clock.ts',
      'server/main.ts',
      'server/store/engine/reach.ts',
    ];
    expect(using).toEqual(sources);
  });

  /** Texts for other programs. */
  const isSnippets = (file: string) => /^web\/ui\/.*snippets\.ts$/.test(file);

  test('only what starts a process reads its environment', () => {
    const starting = (file: string) =>
      /^(cli|proof|docs|examples|release)\/|^web\/build\.ts$|^server\/(main|config|lib\/program)\.ts$/.test(file);
    expect(mentioning(/\b(process|Bun|import\.meta)\.env\b/, (file) => !starting(file) && !isSnippets(file))).toEqual(
      [],
    );
  });

  test('only what starts a process ends it or writes to its streams', () => {
    const starting = (file: string) =>
      /^(cli|proof|docs|examples|release)\/|^web\/build\.ts$|^server\/(main\.ts$|compose\/(core|runtime)\.ts$)/.test(
        file,
      );
    const pattern = /\bprocess\.(exit|stdout|stderr|on)\b|(?<!\/)\bconsole\./;
    expect(mentioning(pattern, (file) => !starting(file) && !isSnippets(file))).toEqual([]);
  });

  test('nothing outside of the webhooks, the SDK and the tools calls out over the network', () => {
    const calling = (file: string) => /^(sdk|cli|web|proof)\/|^server\/webhooks\//.test(file);
    expect(mentioning(/(?<![.\w])fetch\(/, (file) => !calling(file))).toEqual([]);
  });
});
